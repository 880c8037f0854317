#!/usr/bin/env python3
"""Write a MiniLLM snapshot as files for llama.cpp, whose architecture deepseek2 computes the same model.

    make_minillm_gguf.py SNAPSHOT OUT_DIR

OUT_DIR/minillm-{F32,BF16,Q8_0}.gguf with the snapshot's own weights, such as those of
tools/random_minillm_snapshot.py. Rotary pairs are halves in MiniLLM and adjacent in llama.cpp, so the rows
that are rotated change places. The draft heads, which llama.cpp does not have, are left out. Refused: what
deepseek2 computes otherwise (scaled positions, other activations, an index, no query bottleneck).
Needs numpy and gguf.
"""
import json
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

TYPES = {"F32": (Type.F32, gguf.LlamaFileType.ALL_F32), "BF16": (Type.BF16, gguf.LlamaFileType.MOSTLY_BF16),
         "Q8_0": (Type.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0)}
# Keys that must be absent or have this value.
NEUTRAL = {"model_type": "minillm", "hidden_act": "silu", "rope_scaling": None, "attention_bias": False,
           "logit_softcap": 0, "index_topk": 0, "n_group": 1, "moe_layer_freq": 1, "tie_word_embeddings": True}
# MiniLLM's name: llama.cpp's.
LAYER = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_a_proj": "attn_q_a",
         "self_attn.q_a_norm": "attn_q_a_norm", "self_attn.kv_a_norm": "attn_kv_a_norm", "self_attn.o_proj": "attn_output",
         "mlp.gate": "ffn_gate_inp", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
         "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
         "mlp.shared_expert.down_proj": "ffn_down_shexp"}


class Snapshot:
    def __init__(self, folder: Path):
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        for key, value in NEUTRAL.items():
            if self.config.get(key, value) != value:
                raise ValueError(f"{key} is {self.config[key]}; this program writes only {value}")
        path = folder / "model.safetensors"
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self.tensors = json.loads(file.read(length))
        self.data = np.memmap(path, np.uint8, "r", 8 + length)

    def read(self, name: str) -> np.ndarray:
        tensor = self.tensors[name]
        if tensor["dtype"] != "BF16":
            raise ValueError(f"{name} is {tensor['dtype']}, not BF16")
        begin, end = tensor["data_offsets"]
        bits = self.data[begin:end].view("<u2").astype(np.uint32) << 16
        return bits.view(np.float32).reshape(tensor["shape"])


def adjacent(rows: np.ndarray) -> np.ndarray:
    """Rows 0, n/2, 1, n/2 + 1, ...: pairs (i, i + n/2) become (2i, 2i + 1)."""
    half = len(rows) // 2
    return np.stack([rows[:half], rows[half:]], axis=1).reshape(rows.shape)


def rotated_last(values: np.ndarray, rope: int) -> np.ndarray:
    return np.concatenate([values[:-rope], adjacent(values[-rope:])])


def attention(snapshot: Snapshot, prefix: str, block: str):
    c = snapshot.config
    heads, nope, rope = c["num_attention_heads"], c["qk_nope_head_dim"], c["qk_rope_head_dim"]
    queries = snapshot.read(f"{prefix}.q_b_proj.weight").reshape(heads, nope + rope, -1)
    rotated = [rotated_last(head, rope) for head in queries]
    yield f"{block}.attn_q_b.weight", np.concatenate(rotated)
    yield f"{block}.attn_kv_a_mqa.weight", rotated_last(snapshot.read(f"{prefix}.kv_a_proj.weight"), rope)
    both = snapshot.read(f"{prefix}.kv_b_proj.weight").reshape(heads, nope + c["v_head_dim"], -1)
    yield f"{block}.attn_k_b.weight", np.ascontiguousarray(both[:, :nope].transpose(0, 2, 1))
    yield f"{block}.attn_v_b.weight", np.ascontiguousarray(both[:, nope:])


def layer(snapshot: Snapshot, index: int):
    prefix, block = f"model.layers.{index}", f"blk.{index}"
    for ours, theirs in LAYER.items():
        name = f"{prefix}.{ours}.weight"
        if name in snapshot.tensors:
            yield f"{block}.{theirs}.weight", snapshot.read(name)
    yield from attention(snapshot, f"{prefix}.self_attn", block)
    if f"{prefix}.mlp.gate.weight" in snapshot.tensors:
        for part in ("gate", "up", "down"):
            experts = [snapshot.read(f"{prefix}.mlp.experts.{e}.{part}_proj.weight")
                       for e in range(snapshot.config["n_routed_experts"])]
            yield f"{block}.ffn_{part}_exps.weight", np.stack(experts)


def tensors(snapshot: Snapshot):
    yield "token_embd.weight", snapshot.read("model.embed_tokens.weight")
    yield "output_norm.weight", snapshot.read("model.norm.weight")
    for index in range(snapshot.config["num_hidden_layers"]):
        yield from layer(snapshot, index)


def add_config(writer: gguf.GGUFWriter, c: dict) -> None:
    rope = c["qk_rope_head_dim"]
    writer.add_block_count(c["num_hidden_layers"])
    writer.add_context_length(c["max_position_embeddings"])
    writer.add_embedding_length(c["hidden_size"])
    writer.add_feed_forward_length(c["intermediate_size"])
    writer.add_head_count(c["num_attention_heads"])
    writer.add_head_count_kv(1)  # the absorbed form: all heads share the latent
    writer.add_layer_norm_rms_eps(c.get("rms_norm_eps", 1e-6))
    writer.add_rope_freq_base(c.get("rope_theta", 10000.0))
    writer.add_rope_dimension_count(rope)
    writer.add_vocab_size(c["vocab_size"])
    writer.add_q_lora_rank(c["q_lora_rank"])
    writer.add_kv_lora_rank(c["kv_lora_rank"])
    writer.add_key_length(c["kv_lora_rank"] + rope)
    writer.add_value_length(c["kv_lora_rank"])
    writer.add_key_length_mla(c["qk_nope_head_dim"] + rope)
    writer.add_value_length_mla(c["v_head_dim"])
    writer.add_leading_dense_block_count(c["first_k_dense_replace"])
    writer.add_expert_feed_forward_length(c["moe_intermediate_size"])
    writer.add_expert_count(c["n_routed_experts"])
    writer.add_expert_used_count(c["num_experts_per_tok"])
    writer.add_expert_shared_count(c["n_shared_experts"])
    writer.add_expert_weights_scale(c.get("routed_scaling_factor", 1.0))
    writer.add_expert_weights_norm(c["norm_topk_prob"])
    gating = gguf.ExpertGatingFuncType
    writer.add_expert_gating_func(gating.SOFTMAX if c["scoring_func"] == "softmax" else gating.SIGMOID)


def add_vocabulary(writer: gguf.GGUFWriter, snapshot: Snapshot) -> None:
    """Ids are given to llama.cpp as they are, so the pieces matter only for loading."""
    size = snapshot.config["vocab_size"]
    tokens, kinds = [f"[unused{i}]" for i in range(size)], [gguf.TokenType.UNUSED] * size
    for text, token in snapshot.tokenizer["model"]["vocab"].items():
        tokens[token], kinds[token] = text, gguf.TokenType.NORMAL
    for added in snapshot.tokenizer["added_tokens"]:
        tokens[added["id"]], kinds[added["id"]] = added["content"], gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    merges = snapshot.tokenizer["model"]["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    writer.add_eos_token_id(snapshot.config["eos_token_id"])


def write(path: Path, snapshot: Snapshot, kind: Type, file_type: gguf.LlamaFileType) -> None:
    writer = gguf.GGUFWriter(path, "deepseek2")
    writer.add_file_type(file_type)
    add_config(writer, snapshot.config)
    add_vocabulary(writer, snapshot)
    for name, values in tensors(snapshot):
        if values.ndim == 1 or kind == Type.F32 or "ffn_gate_inp" in name:  # as llama.cpp's own converter does
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    snapshot, out = Snapshot(Path(sys.argv[1])), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for label, (kind, file_type) in TYPES.items():
        write(out / f"minillm-{label}.gguf", snapshot, kind, file_type)


if __name__ == "__main__":
    main()
