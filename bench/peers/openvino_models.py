"""GLM-OCR's encoder and decoder as OpenVINO graphs with random weights, for measuring speed only.

Shapes are those of config.json in tools/random_snapshot.py. Graphs are written with OpenVINO's own
operations, so that neither torch nor a download is needed; attention is its fused operation, and the
decoder keeps keys and values in the form (ReadValue, Gather, Concat, Assign) that the CPU plugin
replaces by a cache updated in place.
"""
import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino.op.util import Variable, VariableInfo

VISION = {"depth": 24, "width": 1024, "heads": 16, "inner": 4096, "out": 1536, "patch_values": 1176}
TEXT = {"layers": 16, "width": 1536, "heads": 16, "kv_heads": 8, "head_dim": 128, "inner": 4608,
        "vocabulary": 59392}
EPSILON = 1e-5


class Weights:
    """Random constants in half precision, widened in the graph: what converters store."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def matrix(self, rows: int, columns: int):
        values = self.rng.standard_normal((rows, columns), np.float32) * np.float32(0.02)
        return op.convert(op.constant(values.astype(np.float16)), np.float32)

    def vector(self, size: int):
        return op.constant(self.rng.standard_normal(size, np.float32) * np.float32(0.01))


def constant(values, kind=np.int64):
    return op.constant(np.asarray(values, kind))


def parameter(name: str, shape: list, kind=np.float32):
    node = op.parameter(shape, kind, name)
    node.output(0).get_tensor().set_names({name})
    return node


def linear(x, weights: Weights, rows: int, columns: int, bias: bool):
    y = op.matmul(x, weights.matrix(rows, columns), False, True)
    return op.add(y, weights.vector(rows)) if bias else y


def rms_norm(x, width: int):
    mean = op.reduce_mean(op.multiply(x, x), constant([-1]), True)
    scale = op.divide(constant(1.0, np.float32), op.sqrt(op.add(mean, constant(EPSILON, np.float32))))
    return op.multiply(op.multiply(x, scale), op.constant(np.ones(width, np.float32)))


def rotate(x, cos, sin, dim: int):
    """Rotation of the two halves; the model's own order of pairs costs the same."""
    halves = op.split(x, constant(-1), 2)
    turned = op.concat([op.negative(halves.output(1)), halves.output(0)], -1)
    return op.add(op.multiply(x, cos), op.multiply(turned, sin))


def silu_mlp(x, weights: Weights, width: int, inner: int, bias: bool):
    gate = op.swish(linear(x, weights, inner, width, bias))
    up = linear(x, weights, inner, width, bias)
    return linear(op.multiply(gate, up), weights, width, inner, bias)


def vision_block(x, cos, sin, weights: Weights):
    width, heads = VISION["width"], VISION["heads"]
    dim = width // heads
    qkv = linear(rms_norm(x, width), weights, 3 * width, width, True)
    qkv = op.transpose(op.reshape(qkv, constant([1, -1, 3, heads, dim]), False), constant([2, 0, 3, 1, 4]))
    q, k, v = [op.squeeze(part, constant([0])) for part in op.split(qkv, constant(0), 3).outputs()]
    q, k = (rotate(rms_norm(part, dim), cos, sin, dim) for part in (q, k))
    out = op.scaled_dot_product_attention(q, k, v)
    out = op.reshape(op.transpose(out, constant([0, 2, 1, 3])), constant([1, -1, width]), False)
    x = op.add(x, linear(out, weights, width, width, True))
    return op.add(x, silu_mlp(rms_norm(x, width), weights, width, VISION["inner"], True))


def vision_model(seed: int = 1) -> ov.Model:
    """pixels [1, P, 1176], cos and sin [P, 64] -> embeddings [1, P / 4, 1536]."""
    weights = Weights(seed)
    width, out, dim = VISION["width"], VISION["out"], VISION["width"] // VISION["heads"]
    pixels = parameter("pixels", [1, -1, VISION["patch_values"]])
    cos = parameter("cos", [-1, dim])
    sin = parameter("sin", [-1, dim])
    x = linear(pixels, weights, width, VISION["patch_values"], True)
    for _ in range(VISION["depth"]):
        x = vision_block(x, cos, sin, weights)
    x = op.reshape(rms_norm(x, width), constant([1, -1, 4 * width]), False)
    x = linear(x, weights, out, 4 * width, True)
    x = op.gelu(op.mvn(linear(x, weights, out, out, False), constant([-1]), True, EPSILON, "INSIDE_SQRT"), "ERF")
    return ov.Model([silu_mlp(x, weights, out, 3 * out, False)], [pixels, cos, sin], "vision")


class Decoder:
    """Builds the decoder: tokens [B, L], mask [B, 1, L, cache + L] (0 or a large negative number),
    cos and sin [B, 1, L, 128], beam_idx [B] -> logits [B, 1, vocabulary] of the last token."""

    def __init__(self, seed: int = 1):
        self.weights = Weights(seed)
        self.tokens = parameter("tokens", [-1, -1], np.int64)
        self.mask = parameter("mask", [-1, 1, -1, -1])
        self.cos = parameter("cos", [-1, 1, -1, TEXT["head_dim"]])
        self.sin = parameter("sin", [-1, 1, -1, TEXT["head_dim"]])
        self.beams = parameter("beam_idx", [-1], np.int32)
        self.sinks = []

    def cached(self, current, name: str):
        """Everything cached under `name` with `current` [B, KV heads, L, dim] appended."""
        kv_heads, dim = TEXT["kv_heads"], TEXT["head_dim"]
        info = VariableInfo()
        info.data_shape = ov.PartialShape([-1, kv_heads, -1, dim])
        info.data_type = ov.Type.f32
        info.variable_id = name
        variable = Variable(info)
        batch = op.gather(op.shape_of(self.tokens), constant([0]), constant(0))
        shape = op.concat([batch, constant([kv_heads, 0, dim])], 0)
        past = op.read_value(op.broadcast(constant(0.0, np.float32), shape), variable)
        full = op.concat([op.gather(past, self.beams, constant(0)), current], 2)
        self.sinks.append(op.assign(full, variable))
        return full

    def shared_by_queries(self, x):
        """[B, KV heads, T, dim] -> [B, heads, T, dim]."""
        group = TEXT["heads"] // TEXT["kv_heads"]
        wide = op.broadcast(op.unsqueeze(x, constant([2])), constant([1, 1, group, 1, 1]),
                            broadcast_spec="BIDIRECTIONAL")
        return op.reshape(wide, constant([0, TEXT["heads"], -1, TEXT["head_dim"]]), True)

    def heads(self, x, count: int):
        shaped = op.reshape(x, constant([0, 0, count, TEXT["head_dim"]]), True)
        return op.transpose(shaped, constant([0, 2, 1, 3]))

    def layer(self, x, index: int):
        width, dim, weights = TEXT["width"], TEXT["head_dim"], self.weights
        normed = rms_norm(x, width)
        q = self.heads(linear(normed, weights, TEXT["heads"] * dim, width, False), TEXT["heads"])
        k = self.heads(linear(normed, weights, TEXT["kv_heads"] * dim, width, False), TEXT["kv_heads"])
        v = self.heads(linear(normed, weights, TEXT["kv_heads"] * dim, width, False), TEXT["kv_heads"])
        k = self.cached(rotate(k, self.cos, self.sin, dim), f"past_key_values.{index}.key")
        v = self.cached(v, f"past_key_values.{index}.value")
        out = op.scaled_dot_product_attention(rotate(q, self.cos, self.sin, dim), self.shared_by_queries(k),
                                              self.shared_by_queries(v), self.mask)
        out = op.reshape(op.transpose(out, constant([0, 2, 1, 3])), constant([0, 0, TEXT["heads"] * dim]), True)
        x = op.add(x, rms_norm(linear(out, weights, width, TEXT["heads"] * dim, False), width))
        return op.add(x, rms_norm(silu_mlp(rms_norm(x, width), weights, width, TEXT["inner"], False), width))

    def model(self) -> ov.Model:
        width, vocabulary = TEXT["width"], TEXT["vocabulary"]
        x = op.gather(self.weights.matrix(vocabulary, width), self.tokens, constant(0))
        for index in range(TEXT["layers"]):
            x = self.layer(x, index)
        last = op.gather(x, constant([-1]), constant(1))
        logits = linear(rms_norm(last, width), self.weights, vocabulary, width, False)
        inputs = [self.tokens, self.mask, self.cos, self.sin, self.beams]
        return ov.Model([op.result(logits)], self.sinks, inputs, "decoder")
