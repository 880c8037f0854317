#!/usr/bin/env python3
"""Write a snapshot of MiniLLM's "200mb" size with random weights: for measuring, not for reading.

    tools/random_minillm_snapshot.py OUT_DIR [--seed N]

16 layers of 1,024, 8 experts of which a token has 2, one shared, one draft head: 163,078,144 weights in
BF16, 0.33 GB. The tokenizer is that of a test; what it generates is noise and need not end by itself.

    platen bench model --model OUT_DIR
    platen bench decode --model OUT_DIR

The same seed gives the same bytes with the same numpy. Needs Python 3.9 and numpy.
"""
import argparse
import json
import shutil
from pathlib import Path

import numpy as np
from random_snapshot import write_tensors

CHAT = Path(__file__).resolve().parent.parent / "tests" / "golden" / "minillm" / "mini-chat"
CONFIG = {"architectures": ["MiniLLMForCausalLM"], "model_type": "minillm", "vocab_size": 6400, "hidden_size": 1024,
          "intermediate_size": 2752, "moe_intermediate_size": 256, "num_hidden_layers": 16, "num_attention_heads": 16,
          "max_position_embeddings": 32768, "q_lora_rank": 256, "kv_lora_rank": 128, "qk_nope_head_dim": 64,
          "qk_rope_head_dim": 32, "v_head_dim": 64, "use_moe": True, "n_routed_experts": 8, "num_experts_per_tok": 2,
          "n_shared_experts": 1, "first_k_dense_replace": 2, "norm_topk_prob": True, "scoring_func": "softmax",
          "num_nextn_predict_layers": 1, "mtp_intermediate_size": 2048, "tie_word_embeddings": True, "bos_token_id": 1,
          "eos_token_id": 2, "pad_token_id": 0, "dtype": "bfloat16"}


def mlp(prefix: str, inner: int) -> dict:
    hidden = CONFIG["hidden_size"]
    return {f"{prefix}.gate_proj.weight": [inner, hidden], f"{prefix}.up_proj.weight": [inner, hidden],
            f"{prefix}.down_proj.weight": [hidden, inner]}


def layer(i: int) -> dict:
    c, prefix = CONFIG, f"model.layers.{i}"
    hidden, heads = c["hidden_size"], c["num_attention_heads"]
    rope, nope, value = c["qk_rope_head_dim"], c["qk_nope_head_dim"], c["v_head_dim"]
    shapes = {f"{prefix}.input_layernorm.weight": [hidden], f"{prefix}.post_attention_layernorm.weight": [hidden],
              f"{prefix}.self_attn.q_a_proj.weight": [c["q_lora_rank"], hidden],
              f"{prefix}.self_attn.q_a_norm.weight": [c["q_lora_rank"]],
              f"{prefix}.self_attn.q_b_proj.weight": [heads * (nope + rope), c["q_lora_rank"]],
              f"{prefix}.self_attn.kv_a_proj.weight": [c["kv_lora_rank"] + rope, hidden],
              f"{prefix}.self_attn.kv_a_norm.weight": [c["kv_lora_rank"]],
              f"{prefix}.self_attn.kv_b_proj.weight": [heads * (nope + value), c["kv_lora_rank"]],
              f"{prefix}.self_attn.o_proj.weight": [hidden, heads * value]}
    if i < c["first_k_dense_replace"]:
        return {**shapes, **mlp(f"{prefix}.mlp", c["intermediate_size"])}
    shapes[f"{prefix}.mlp.gate.weight"] = [c["n_routed_experts"], hidden]
    for e in range(c["n_routed_experts"]):
        shapes.update(mlp(f"{prefix}.mlp.experts.{e}", c["moe_intermediate_size"]))
    return {**shapes, **mlp(f"{prefix}.mlp.shared_expert", c["n_shared_experts"] * c["moe_intermediate_size"])}


def shapes() -> dict:
    hidden = CONFIG["hidden_size"]
    made = {"model.embed_tokens.weight": [CONFIG["vocab_size"], hidden], "model.norm.weight": [hidden],
            "mtp_layers.0.norm.weight": [hidden], **mlp("mtp_layers.0", CONFIG["mtp_intermediate_size"])}
    for i in range(CONFIG["num_hidden_layers"]):
        made.update(layer(i))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "config.json").write_text(json.dumps(CONFIG, indent=1), encoding="utf-8")
    for name in ("generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(CHAT / name, options.out / name)
    made = shapes()
    write_tensors(options.out / "model.safetensors", made, options.seed)
    print(f"{sum(int(np.prod(shape)) for shape in made.values()):,} weights in {options.out}")


if __name__ == "__main__":
    main()
