"""PP-DocLayoutV3 as a graph of OpenVINO's operations: build(snapshot folder) -> openvino.Model.

Input pixels [1, 3, h, w] in 0..1; outputs logits [Q, labels], boxes [Q, 4], order logits [Q, Q]. Of a snapshot with
published names in one file. Batch norms and the 1x1 branches of the 3x3 convolutions are folded.
"""
import json
import math
from pathlib import Path

import numpy as np
import openvino
from openvino import opset13 as op

EPS = 1e-5  # of all norms of the released configuration


def read(path: Path) -> dict:
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    start = 8 + length
    return {name: np.frombuffer(data[start + e["data_offsets"][0]:start + e["data_offsets"][1]], np.float32).reshape(e["shape"])
            for name, e in header.items() if e["dtype"] == "F32"}


def const(value, kind=np.float32):
    return op.constant(np.array(value, kind, order="C"))


class Network:
    def __init__(self, folder: Path):
        self.c = json.loads((folder / "config.json").read_text())
        self.b = self.c["backbone_config"]
        self.w = read(folder / "model.safetensors")
        self.size = json.loads((folder / "preprocessor_config.json").read_text())["size"]

    # ---------------------------------------------------------------------------------- layers
    def fold(self, conv: str, norm: str):
        scale = self.w[norm + ".weight"] / np.sqrt(self.w[norm + ".running_var"] + EPS)
        return self.w[conv + ".weight"] * scale[:, None, None, None], self.w[norm + ".bias"] - self.w[norm + ".running_mean"] * scale

    def conv(self, x, weight, bias, stride=1, pads=None, act=None):
        k = weight.shape[2]
        before, after = pads or ((k - 1) // 2, (k - 1) // 2)
        if weight.shape[1] == 1 and x.get_output_partial_shape(0)[1].get_length() > 1:
            y = op.group_convolution(x, const(weight[:, None]), [stride] * 2, [before] * 2, [after] * 2, [1, 1])
        else:
            y = op.convolution(x, const(weight), [stride] * 2, [before] * 2, [after] * 2, [1, 1])
        y = op.add(y, const(bias[None, :, None, None]))
        return {"relu": op.relu, "silu": op.swish, None: lambda v: v}[act](y)

    def hg(self, p, x, act="relu", **more):
        return self.conv(x, *self.fold(p + ".convolution", p + ".normalization"), act=act, **more)

    def cn(self, p, x, act="silu", **more):
        return self.conv(x, *self.fold(p + ".conv", p + ".norm"), act=act, **more)

    def lin(self, p, x):
        return op.add(op.matmul(x, const(self.w[p + ".weight"]), False, True), const(self.w[p + ".bias"]))

    def ln(self, p, x):
        y = op.mvn(x, const([-1], np.int64), True, EPS, "inside_sqrt")
        return op.add(op.multiply(y, const(self.w[p + ".weight"])), const(self.w[p + ".bias"]))

    def mlp(self, p, x, layers):
        for i in range(layers):
            x = self.lin(f"{p}.layers.{i}", x)
            x = op.relu(x) if i + 1 < layers else x
        return x

    def attention(self, p, x, pos, heads):
        d = x.get_output_partial_shape(0)[1].get_length() // heads
        split = lambda t: op.transpose(op.reshape(t, const([-1, heads, d], np.int64), False), const([1, 0, 2], np.int64))
        qk = op.add(x, pos)
        q, k, v = split(self.lin(p + ".q_proj", qk)), split(self.lin(p + ".k_proj", qk)), split(self.lin(p + ".v_proj", x))
        a = op.softmax(op.multiply(op.matmul(q, k, False, True), const(d ** -0.5)), 2)
        y = op.transpose(op.matmul(a, v, False, False), const([1, 0, 2], np.int64))
        return self.lin(p + ".out_proj", op.reshape(y, const([-1, heads * d], np.int64), False))

    def up(self, x, mode):
        h, w = (x.get_output_partial_shape(0)[i].get_length() * 2 for i in (2, 3))
        how = dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor") if mode == "nearest" else {}
        return op.interpolate(x, const([h, w], np.int64), mode, "sizes", axes=const([2, 3], np.int64), **how)

    # ---------------------------------------------------------------------------------- parts
    def backbone(self, x):
        e, corner = "model.backbone.model.embedder", dict(pads=(0, 1))
        x = self.hg(e + ".stem1", x, stride=2)
        y = self.hg(e + ".stem2b", self.hg(e + ".stem2a", x, **corner), **corner)
        padded = op.pad(x, const([0, 0, 0, 0], np.int64), const([0, 0, 1, 1], np.int64), "constant", const(0.0))
        pool = op.max_pool(padded, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2])
        x = self.hg(e + ".stem3", op.concat([pool.output(0), y.output(0)], 1), stride=2)
        x, maps = self.hg(e + ".stem4", x), []
        for i in range(4):
            p = f"model.backbone.model.encoder.stages.{i}"
            if i > 0:
                x = self.hg(p + ".downsample", x, act=None, stride=2)
            for j in range(self.b["stage_num_blocks"][i]):
                x = self.block(f"{p}.blocks.{j}", x, i, j)
            maps.append(x)
        return maps

    def block(self, p, x, stage, index):
        parts, y = [x], x
        for k in range(self.b["stage_numb_of_layers"][stage]):
            if self.b["stage_light_block"][stage]:
                y = self.hg(f"{p}.layers.{k}.conv2", self.hg(f"{p}.layers.{k}.conv1", y, act=None))
            else:
                y = self.hg(f"{p}.layers.{k}", y)
            parts.append(y)
        y = self.hg(p + ".aggregation.1", self.hg(p + ".aggregation.0", op.concat([t.output(0) for t in parts], 1)))
        return op.add(y, x) if index > 0 else y

    def rows(self, x):
        c = x.get_output_partial_shape(0)[1].get_length()
        return op.transpose(op.reshape(x, const([c, -1], np.int64), False), const([1, 0], np.int64))

    def aifi(self, x):
        c, h, w = (x.get_output_partial_shape(0)[i].get_length() for i in (1, 2, 3))
        n = c // 4
        f = float(self.c["positional_encoding_temperature"]) ** -(np.arange(n) / n)
        y, z = np.meshgrid(np.arange(h), np.arange(w), indexing="ij")
        a, b = y.reshape(-1, 1) * f, z.reshape(-1, 1) * f
        pos, t = const(np.concatenate([np.sin(a), np.cos(a), np.sin(b), np.cos(b)], 1)), self.rows(x)
        for i in range(self.c["encoder_layers"]):
            p = f"model.encoder.encoder.0.layers.{i}"
            t = self.ln(p + ".self_attn_layer_norm", op.add(t, self.attention(p + ".self_attn", t, pos, self.c["encoder_attention_heads"])))
            t = self.ln(p + ".final_layer_norm", op.add(t, self.lin(p + ".fc2", op.gelu(self.lin(p + ".fc1", t), "erf"))))
        return op.reshape(op.transpose(t, const([1, 0], np.int64)), const([1, c, h, w], np.int64), False)

    def csp(self, p, x):
        y = self.cn(p + ".conv1", x)
        for i in range(3):
            q = f"{p}.bottlenecks.{i}"
            (w3, b3), (w1, b1) = self.fold(q + ".conv1.conv", q + ".conv1.norm"), self.fold(q + ".conv2.conv", q + ".conv2.norm")
            w3 = w3.copy()
            w3[:, :, 1, 1] += w1[:, :, 0, 0]
            y = self.conv(y, w3, b3 + b1, act="silu")
        return op.add(y, self.cn(p + ".conv2", x))

    def encoder(self, maps):
        e = "model.encoder"
        proj = [self.conv(m, *self.fold(f"model.encoder_input_proj.{i}.0", f"model.encoder_input_proj.{i}.1")) for i, m in enumerate(maps[1:])]
        proj[2] = self.aifi(proj[2])
        top = [proj[2]]
        for i in range(2):
            top[-1] = self.cn(f"{e}.lateral_convs.{i}", top[-1])
            top.append(self.csp(f"{e}.fpn_blocks.{i}", op.concat([self.up(top[-1], "nearest").output(0), proj[1 - i].output(0)], 1)))
        pan = [top[2]]
        for i in range(2):
            down = self.cn(f"{e}.downsample_convs.{i}", pan[-1], stride=2)
            pan.append(self.csp(f"{e}.pan_blocks.{i}", op.concat([down.output(0), top[1 - i].output(0)], 1)))
        m = lambda p, x: self.hg(f"{e}.{p}", x, act="silu")
        total = m("mask_feature_head.scale_heads.0.layers.0", pan[0])
        total = op.add(total, self.up(m("mask_feature_head.scale_heads.1.layers.0", pan[1]), "linear_onnx"))
        y = self.up(m("mask_feature_head.scale_heads.2.layers.0", pan[2]), "linear_onnx")
        total = op.add(total, self.up(m("mask_feature_head.scale_heads.2.layers.2", y), "linear_onnx"))
        large = self.up(m("mask_feature_head.output_conv", total), "linear_onnx")
        large = m("encoder_mask_output.base_conv", op.add(large, m("encoder_mask_lateral", maps[0])))
        last = f"{e}.encoder_mask_output.conv"
        return pan, self.conv(large, self.w[last + ".weight"], self.w[last + ".bias"])

    def mask_boxes(self, queries, features):
        p, h, w = (features.get_output_partial_shape(0)[i].get_length() for i in (1, 2, 3))
        masks = op.matmul(queries, op.reshape(features, const([p, h * w], np.int64), False), False, False)
        on = op.greater(op.reshape(masks, const([-1, h, w], np.int64), False), const(0.0))
        sides = []
        for axis, n in ((1, w), (2, h)):
            any_on = op.reduce_logical_or(on, const([axis], np.int64), False)
            place = const(np.arange(n)[None])
            first = op.reduce_min(op.select(any_on, place, const(1e6)), const([1], np.int64), True)
            last = op.reduce_max(op.select(any_on, op.add(place, const(1.0)), const(0.0)), const([1], np.int64), True)
            first = op.minimum(first, last)
            sides.append((op.divide(first, const(float(n))), op.divide(last, const(float(n)))))
        (x0, x1), (y0, y1) = sides
        centre = lambda a, b: op.multiply(op.add(a, b), const(0.5)).output(0)
        return op.concat([centre(x0, x1), centre(y0, y1), op.subtract(x1, x0).output(0), op.subtract(y1, y0).output(0)], 1)

    def inverse_sigmoid(self, x):
        x = op.clamp(x, 0.0, 1.0)
        return op.log(op.divide(op.maximum(x, const(1e-5)), op.maximum(op.subtract(const(1.0), x), const(1e-5))))

    def deform(self, p, x, pos, memory, refs, shapes):
        heads, points, d = self.c["decoder_attention_heads"], self.c["decoder_n_points"], self.c["d_model"]
        n, q, levels = d // heads, self.c["num_queries"], len(shapes)
        x = op.add(x, pos)
        value = op.reshape(op.transpose(self.lin(p + ".value_proj", memory), const([1, 0], np.int64)), const([heads, n, -1], np.int64), False)
        offsets = op.reshape(self.lin(p + ".sampling_offsets", x), const([q, heads, levels, points, 2], np.int64), False)
        weights = op.softmax(op.reshape(self.lin(p + ".attention_weights", x), const([q, heads, levels * points], np.int64), False), 2)
        part = lambda lo, hi: op.reshape(op.slice(refs, const([lo], np.int64), const([hi], np.int64), const([1], np.int64), const([1], np.int64)),
                                         const([q, 1, 1, 1, 2], np.int64), False)
        at = op.add(part(0, 2), op.multiply(offsets, op.multiply(part(2, 4), const(0.5 / points))))
        grid = op.subtract(op.multiply(at, const(2.0)), const(1.0))  # [q, heads, levels, points, 2]
        samples, start = [], 0
        for i, (h, w) in enumerate(shapes):
            cut = op.slice(value, const([start], np.int64), const([start + h * w], np.int64), const([1], np.int64), const([2], np.int64))
            start += h * w
            places = op.transpose(op.gather(grid, const(i, np.int64), const(2, np.int64)), const([1, 0, 2, 3], np.int64))
            samples.append(op.grid_sample(op.reshape(cut, const([heads, n, h, w], np.int64), False), places, {
                "align_corners": False, "mode": "bilinear", "padding_mode": "zeros"}).output(0))  # [heads, n, q, points]
        joined = op.concat(samples, 3)
        share = op.unsqueeze(op.transpose(weights, const([1, 0, 2], np.int64)), const([1], np.int64))
        out = op.reduce_sum(op.multiply(joined, share), const([3], np.int64), False)  # [heads, n, q]
        out = op.reshape(op.transpose(out, const([2, 0, 1], np.int64)), const([q, d], np.int64), False)
        return self.lin(p + ".output_proj", out)

    def valid(self, shapes):
        out = []
        for level, (h, w) in enumerate(shapes):
            y, x = np.meshgrid((np.arange(h, dtype=np.float32) + np.float32(0.5)) / np.float32(h),
                               (np.arange(w, dtype=np.float32) + np.float32(0.5)) / np.float32(w), indexing="ij")
            inside = lambda t: (t > np.float32(0.01)) & (t < np.float32(0.99))
            out.append((inside(y) & inside(x)).reshape(-1))
        return np.concatenate(out)

    def model(self):
        pixels = op.parameter([1, 3, self.size["height"], self.size["width"]], np.float32)
        pan, features = self.encoder(self.backbone(pixels))
        dec = [self.conv(m, *self.fold(f"model.decoder_input_proj.{i}.0", f"model.decoder_input_proj.{i}.1")) for i, m in enumerate(pan)]
        shapes = [tuple(m.get_output_partial_shape(0)[i].get_length() for i in (2, 3)) for m in dec]
        memory = op.concat([self.rows(m).output(0) for m in dec], 0)
        out = self.ln("model.enc_output.1", self.lin("model.enc_output.0", op.multiply(memory, const(self.valid(shapes)[:, None]))))
        best = op.reduce_max(self.lin("model.enc_score_head", out), const([1], np.int64), False)
        top = op.topk(best, const(self.c["num_queries"], np.int64), 0, "max", "value", index_element_type="i64")
        x = op.gather(out, top.output(1), const(0, np.int64))
        boxes = self.mask_boxes(self.mlp("model.mask_query_head", self.ln("model.decoder_norm", x), 3), features)
        refs = op.sigmoid(self.inverse_sigmoid(boxes))
        box_head = "model.decoder.bbox_embed" if "model.decoder.bbox_embed.layers.0.weight" in self.w else "model.enc_bbox_head"
        score = "model.decoder.class_embed" if "model.decoder.class_embed.weight" in self.w else "model.enc_score_head"
        for i in range(self.c["decoder_layers"]):
            p = f"model.decoder.layers.{i}"
            pos = self.mlp("model.decoder.query_pos_head", refs, 2)
            x = self.ln(p + ".self_attn_layer_norm", op.add(x, self.attention(p + ".self_attn", x, pos, self.c["decoder_attention_heads"])))
            x = self.ln(p + ".encoder_attn_layer_norm", op.add(x, self.deform(p + ".encoder_attn", x, pos, memory, refs, shapes)))
            x = self.ln(p + ".final_layer_norm", op.add(x, self.lin(p + ".fc2", op.relu(self.lin(p + ".fc1", x)))))
            refs = op.sigmoid(op.add(self.mlp(box_head, x, 3), self.inverse_sigmoid(refs)))
        x = self.ln("model.decoder_norm", x)
        g = self.lin("model.decoder_global_pointer.dense", self.lin(f"model.decoder_order_head.{self.c['decoder_layers'] - 1}", x))
        n = self.c["global_pointer_head_size"]
        half = lambda lo: op.slice(g, const([lo], np.int64), const([lo + n], np.int64), const([1], np.int64), const([1], np.int64))
        order = op.multiply(op.matmul(half(0), half(n), False, True), const(1 / math.sqrt(n)))
        return openvino.Model([self.lin(score, x), refs, order], [pixels], "pp_doclayout_v3")


def build(folder: Path) -> openvino.Model:
    return Network(Path(folder)).model()
