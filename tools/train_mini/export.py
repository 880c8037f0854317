"""Write a snapshot folder (Hugging Face layout) from a training checkpoint."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from config import IMAGE_MEAN, IMAGE_STD, LUMA, LUMA_STD, MERGE, PATCH, ModelConfig
from recipes import RECIPES, VISION_KEYS, kind_of, new_config, sizes_json
from render import BASELINE, HEIGHT, X_HEIGHT
from snapshot import PATCH_KERNEL, TRAINING_ONLY
from state import save_heads
from tokenizer import PROMPT

PIXELS_MIN, PIXELS_MAX = 28 * 28 * 2, 28 * 28 * 2 * 120
# The library version whose configuration layout is written.
FORMAT_VERSION = "5.17.0"
# Longer lines are cut at word gaps; somewhat below the widest training line.
READ_WIDTH = 560
# A page of a lower mean probability is called doubtful: where probabilities are calibrated, one in
# ten of its characters is expected to be wrong.
DOUBTFUL_BELOW = 0.9
# K-group of int8 weights: with 256 the small model reads worse than in float32.
INT8_GROUP = 64

CHAT_TEMPLATE = """[gMASK]<sop>
{%- for message in messages -%}
<|{{ message.role }}|>{{ '\\n' }}
{%- if message.role == 'assistant' -%}
<think></think>{{ '\\n' }}
{%- endif -%}
{%- if message.content is string -%}
{{ message.content }}
{%- else -%}
{%- for item in message.content -%}
{%- if item.type == 'image' -%}
<|begin_of_image|><|image|><|end_of_image|>
{%- elif item.type == 'text' -%}
{{ item.text }}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|assistant|>{{ '\\n' }}
{%- endif -%}
"""


def expand_patch_weight(weight: Tensor) -> Tensor:
    """Luma filter [H, 196] to the [H, 3, 2, 14, 14] kernel acting on normalised RGB frames.

    sum_c luma_c * (x_c - mean_c) / S = (luma(x) - luma(mean)) / S, so each channel gets
    luma_c * std_c / S, halved over the two identical temporal slices.
    """
    gray = weight.view(-1, 1, 1, PATCH, PATCH)
    factor = torch.tensor([share * std / LUMA_STD / 2 for share, std in zip(LUMA, IMAGE_STD)]).view(
        1, 3, 1, 1, 1
    )
    return (gray * factor).expand(-1, 3, 2, PATCH, PATCH).contiguous()


def hf_tensors(state: dict[str, Tensor], c: ModelConfig, dtype: torch.dtype) -> dict[str, Tensor]:
    """Tensors under the names of the Hugging Face layout."""
    out = {k: v for k, v in state.items() if not k.startswith(TRAINING_ONLY)}
    out[PATCH_KERNEL] = expand_patch_weight(out[PATCH_KERNEL])
    out = RECIPES[kind_of(c.text)].to_file(out, c)
    return {k: v.to(dtype).contiguous().clone() for k, v in sorted(out.items())}


def config_json(c: ModelConfig, ids: dict[str, int]) -> dict:
    """config.json content."""
    text = RECIPES[kind_of(c.text)].text_json(c) | {
        "eos_token_id": [ids["<|endoftext|>"], ids["<|user|>"]],
        "pad_token_id": ids["<|endoftext|>"],
        "tie_word_embeddings": False,
        "use_cache": True,
        "initializer_range": 0.02,
    }
    vision = {
        "model_type": "glm_ocr_vision",
        **sizes_json(c.vision, VISION_KEYS),
        "hidden_act": "silu",
        "attention_bias": True,
        "attention_dropout": 0.0,
        "hidden_dropout_prob": 0.0,
        "rms_norm_eps": c.eps,
        "in_channels": 3,
        "patch_size": PATCH,
        "temporal_patch_size": 2,
        "spatial_merge_size": MERGE,
        "image_size": 336,
        "rope_parameters": {"rope_type": "axial", "rope_theta": c.theta},
        "initializer_range": 0.02,
    }
    names = {
        "image_start": "<|begin_of_image|>",
        "image_end": "<|end_of_image|>",
        "image": "<|image|>",
        "video_start": "<|begin_of_video|>",
        "video_end": "<|end_of_video|>",
        "video": "<|video|>",
    }
    return {
        "architectures": ["GlmOcrForConditionalGeneration"],
        "model_type": "glm_ocr",
        "text_config": text,
        "vision_config": vision,
        **{f"{key}_token_id": ids[token] for key, token in names.items()},
        "tie_word_embeddings": False,
        "dtype": "bfloat16",
        "transformers_version": FORMAT_VERSION,
    }


def tokenizer_config(added: list[dict]) -> dict:
    """tokenizer_config.json content."""
    keep = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")
    return {
        "added_tokens_decoder": {str(a["id"]): {k: a[k] for k in keep} for a in added},
        "clean_up_tokenization_spaces": False,
        "do_lower_case": False,
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "model_max_length": 4096,
        "padding_side": "left",
        "processor_class": "Glm46VProcessor",
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def json_files(tokenizer: Path, c: ModelConfig) -> dict[str, dict]:
    """All JSON files of the snapshot but the tokenizer itself."""
    added = json.loads(tokenizer.read_text())["added_tokens"]
    ids = {a["content"]: a["id"] for a in added}
    stops = [ids["<|endoftext|>"], ids["<|user|>"]]
    return {
        "config.json": config_json(c, ids),
        "generation_config.json": {
            "do_sample": False,
            "eos_token_id": stops,
            "pad_token_id": stops[0],
            "transformers_version": FORMAT_VERSION,
        },
        "preprocessor_config.json": {
            "size": {"shortest_edge": PIXELS_MIN, "longest_edge": PIXELS_MAX},
            "do_rescale": True,
            "patch_size": PATCH,
            "temporal_patch_size": 2,
            "merge_size": MERGE,
            "image_mean": list(IMAGE_MEAN),
            "image_std": list(IMAGE_STD),
            "image_processor_type": "Glm46VImageProcessor",
            "processor_class": "Glm46VProcessor",
        },
        "tokenizer_config.json": tokenizer_config(added),
        "platen.json": {
            "granularity": "line",
            "line_height": HEIGHT,
            "x_height": int(X_HEIGHT),
            "baseline": int(BASELINE),
            "max_width": READ_WIDTH,
            "prompts": {"text": PROMPT},
            "scripts": ["Latin"],
            "doubtful_below": DOUBTFUL_BELOW,
            "tasks": ["text"],
            "int8": {"group": INT8_GROUP},
        },
    }


def export(
    state: dict[str, Tensor],
    tokenizer: Path,
    out: Path,
    dtype: torch.dtype = torch.bfloat16,
    model: str = "glm_ocr",
) -> None:
    """Write all snapshot files of a model of ``MODELS``."""
    config = new_config(model)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in json_files(tokenizer, config).items():
        (out / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    (out / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    if tokenizer.resolve() != (out / "tokenizer.json").resolve():
        shutil.copyfile(tokenizer, out / "tokenizer.json")
    tensors = hf_tensors(state, config, dtype)
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--checkpoint", type=Path, required=True)
    ap.add_argument("--tokenizer", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument(
        "--average",
        action="store_true",
        help="the running mean of the weights (best before a decay has ended)",
    )
    ap.add_argument(
        "--heads", type=Path, help="folder to keep the training heads in, for train.py --heads"
    )
    ap.add_argument("--float32", action="store_true")
    args = ap.parse_args()
    saved = torch.load(args.checkpoint, weights_only=False, map_location="cpu")
    weights = saved["ema" if args.average else "model"]
    model = saved["state"].get("model", "glm_ocr")
    dtype = torch.float32 if args.float32 else torch.bfloat16
    export(weights, args.tokenizer, args.out, dtype, model)
    if args.heads:
        save_heads(args.heads, weights)
    print(
        "exported step",
        saved["state"]["step"],
        (args.out / "model.safetensors").stat().st_size,
        "bytes",
    )
    tokens = Tokenizer.from_file(str(args.out / "tokenizer.json")).get_vocab_size()
    assert tokens <= new_config(model).text.vocab


if __name__ == "__main__":
    main()
