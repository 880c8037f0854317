#!/usr/bin/env python3
"""Write a snapshot of GLM-OCR's exact size with random weights: for measuring, not for reading.

    tools/random_snapshot.py OUT_DIR [--seed N]

526 BF16 tensors, 1,325,258,240 weights, 2.65 GB, with the released model's names, shapes and
configuration. Prompt, preprocessing and the kind of tokenizer are those of assets/platen-mini, which is
the same architecture; token ids and the length of the prompts are the released model's. What it
generates is noise and need not end by itself, so use it where the number of tokens is fixed:

    platen bench model --model OUT_DIR
    platen bench pages --model OUT_DIR

The same seed gives the same bytes with the same numpy. Linear weights are normal with deviation 0.02,
biases 0.01, norms 1 +- 0.05: activations stay finite in every precision. Takes about a minute.

Needs Python 3.9 and numpy.
"""
import argparse
import json
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np

MINI = Path(__file__).resolve().parent.parent / "assets" / "platen-mini"

TEXT = {"vocab_size": 59392, "hidden_size": 1536, "intermediate_size": 4608, "num_hidden_layers": 16,
        "num_nextn_predict_layers": 1, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "max_position_embeddings": 131072}
MROPE_SECTION = [16, 24, 24]
VISION = {"depth": 24, "hidden_size": 1024, "num_heads": 16, "intermediate_size": 4096, "out_hidden_size": 1536}
PIXELS = {"shortest_edge": 12544, "longest_edge": 9633792}

FIRST_ADDED_TOKEN = 59246  # in platen-mini: 256, after the bytes
MINI_FIRST_ADDED_TOKEN = 256
# Pieces of the task prompt at the ids they have in the released tokenizer.
PROMPT_PIECES = {"Text": 3649, " Rec": 7404, "ognition": 49600}
# The draft layer repeats the main embedding and head.
DRAFT = f"model.language_model.layers.{TEXT['num_hidden_layers']}"
SHARED = {f"{DRAFT}.embed_tokens.weight": "model.language_model.embed_tokens.weight",
          f"{DRAFT}.shared_head.head.weight": "lm_head.weight"}
CHUNK = 1 << 24  # weights drawn at once


def text_layer(prefix: str) -> dict:
    hidden, inner = TEXT["hidden_size"], TEXT["intermediate_size"]
    query = TEXT["num_attention_heads"] * TEXT["head_dim"]
    keys = TEXT["num_key_value_heads"] * TEXT["head_dim"]
    norms = ("input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm")
    shapes = {f"{prefix}.{norm}.weight": [hidden] for norm in norms}
    shapes.update({
        f"{prefix}.self_attn.q_proj.weight": [query, hidden],
        f"{prefix}.self_attn.k_proj.weight": [keys, hidden],
        f"{prefix}.self_attn.v_proj.weight": [keys, hidden],
        f"{prefix}.self_attn.o_proj.weight": [hidden, query],
        f"{prefix}.mlp.gate_up_proj.weight": [2 * inner, hidden],
        f"{prefix}.mlp.down_proj.weight": [hidden, inner]})
    return shapes


def text_shapes() -> dict:
    hidden, vocabulary = TEXT["hidden_size"], TEXT["vocab_size"]
    model = "model.language_model"
    shapes = {"lm_head.weight": [vocabulary, hidden],
              f"{model}.embed_tokens.weight": [vocabulary, hidden],
              f"{model}.norm.weight": [hidden]}
    for i in range(TEXT["num_hidden_layers"] + 1):  # the last one is the draft layer
        shapes.update(text_layer(f"{model}.layers.{i}"))
    shapes.update({f"{DRAFT}.enorm.weight": [hidden], f"{DRAFT}.hnorm.weight": [hidden],
                   f"{DRAFT}.eh_proj.weight": [hidden, 2 * hidden],
                   f"{DRAFT}.shared_head.norm.weight": [hidden],
                   f"{DRAFT}.shared_head.head.weight": [vocabulary, hidden],
                   f"{DRAFT}.embed_tokens.weight": [vocabulary, hidden]})
    return shapes


def with_bias(name: str, rows: int, columns: int) -> dict:
    return {f"{name}.weight": [rows, columns], f"{name}.bias": [rows]}


def vision_shapes() -> dict:
    width, inner, out = VISION["hidden_size"], VISION["intermediate_size"], VISION["out_hidden_size"]
    head = width // VISION["num_heads"]
    model = "model.visual"
    shapes = {f"{model}.patch_embed.proj.weight": [width, 3, 2, 14, 14], f"{model}.patch_embed.proj.bias": [width]}
    for i in range(VISION["depth"]):
        block = f"{model}.blocks.{i}"
        shapes.update({f"{block}.norm1.weight": [width], f"{block}.norm2.weight": [width],
                       f"{block}.attn.q_norm.weight": [head], f"{block}.attn.k_norm.weight": [head]})
        shapes.update(with_bias(f"{block}.attn.qkv", 3 * width, width))
        shapes.update(with_bias(f"{block}.attn.proj", width, width))
        shapes.update(with_bias(f"{block}.mlp.gate_proj", inner, width))
        shapes.update(with_bias(f"{block}.mlp.up_proj", inner, width))
        shapes.update(with_bias(f"{block}.mlp.down_proj", width, inner))
    shapes.update({f"{model}.post_layernorm.weight": [width],
                   f"{model}.downsample.weight": [out, width, 2, 2], f"{model}.downsample.bias": [out],
                   f"{model}.merger.proj.weight": [out, out],
                   f"{model}.merger.post_projection_norm.weight": [out],
                   f"{model}.merger.post_projection_norm.bias": [out],
                   f"{model}.merger.gate_proj.weight": [3 * out, out],
                   f"{model}.merger.up_proj.weight": [3 * out, out],
                   f"{model}.merger.down_proj.weight": [out, 3 * out]})
    return shapes


def bf16(values: np.ndarray) -> np.ndarray:
    """The upper half of each float32, rounded to nearest even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def weights(seed: int, name: str, count: int):
    """The tensor's bytes in pieces; they depend on the seed and the name alone."""
    rng = np.random.Generator(np.random.Philox(key=[seed, zlib.crc32(name.encode())]))
    mean, deviation = 0.0, 0.02
    if name.endswith(".bias"):
        deviation = 0.01
    elif "norm" in name.split(".")[-2]:
        mean, deviation = 1.0, 0.05
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        yield bf16(mean + deviation * rng.standard_normal(size, np.float32)).tobytes()


def write_weights(path: Path, seed: int) -> int:
    return write_tensors(path, {**text_shapes(), **vision_shapes()}, seed)


def write_tensors(path: Path, unsorted: dict, seed: int) -> int:
    """A safetensors file of BF16 tensors of these shapes."""
    shapes = dict(sorted(unsorted.items()))
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            for piece in weights(seed, SHARED.get(name, name), int(np.prod(shape))):
                file.write(piece)
    print(f"{len(shapes)} tensors, {end // 2:,} weights")
    return end


def read_mini(name: str) -> dict:
    return json.loads((MINI / name).read_text(encoding="utf-8"))


def moved(token: int) -> int:
    return token + FIRST_ADDED_TOKEN - MINI_FIRST_ADDED_TOKEN


def config() -> dict:
    made = read_mini("config.json")
    made["text_config"].update(TEXT)
    made["text_config"]["rope_parameters"]["mrope_section"] = MROPE_SECTION
    made["vision_config"].update(VISION)
    for key, value in made.items():
        if key.endswith("_token_id"):
            made[key] = moved(value)
    ends = made["text_config"]
    ends["eos_token_id"] = [moved(token) for token in ends["eos_token_id"]]
    ends["pad_token_id"] = moved(ends["pad_token_id"])
    return made


def generation_config() -> dict:
    made = read_mini("generation_config.json")
    made["eos_token_id"] = [moved(token) for token in made["eos_token_id"]]
    made["pad_token_id"] = moved(made["pad_token_id"])
    return made


def tokenizer() -> dict:
    """Bytes, the pieces of the prompt with their merges, fillers that no text is split into, and the
    added tokens."""
    made = read_mini("tokenizer.json")
    vocabulary = dict(made["model"]["vocab"])
    merges, wanted = [], {}
    for piece, token in PROMPT_PIECES.items():
        text = piece.replace(" ", "\u0120")  # the byte-level spelling of a space
        for end in range(2, len(text) + 1):
            merges.append([text[:end - 1], text[end - 1]])
            wanted[text[:end]] = token if end == len(text) else None
    free = iter(sorted(set(range(len(vocabulary), FIRST_ADDED_TOKEN)) - set(PROMPT_PIECES.values())))
    for text, token in wanted.items():
        vocabulary[text] = next(free) if token is None else token
    for token in free:
        vocabulary[f"x{token}"] = token
    made["model"]["vocab"] = dict(sorted(vocabulary.items(), key=lambda entry: entry[1]))
    made["model"]["merges"] = merges
    for token in made["added_tokens"]:
        token["id"] = moved(token["id"])
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    preprocessor = read_mini("preprocessor_config.json")
    preprocessor["size"] = PIXELS
    files = {"config.json": config(), "generation_config.json": generation_config(),
             "preprocessor_config.json": preprocessor, "tokenizer.json": tokenizer()}
    for name, content in files.items():
        (options.out / name).write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    for name in ("chat_template.jinja", "tokenizer_config.json"):
        shutil.copyfile(MINI / name, options.out / name)
    size = write_weights(options.out / "model.safetensors", options.seed)
    print(f"{size / 1e9:.2f} GB in {options.out}")


if __name__ == "__main__":
    main()
