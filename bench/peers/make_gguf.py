#!/usr/bin/env python3
"""Write GLM-OCR's shapes with random weights as files for llama.cpp, for measuring speed only.

    make_gguf.py OUT_DIR

OUT_DIR/text-{BF16,Q8_0}.gguf and OUT_DIR/vision-{BF16,Q8_0}.gguf, as llama.cpp's own converter names and
types the tensors of zai-org/GLM-OCR (architectures glm4 and glm4v); the draft layer, which llama.cpp loads
but does not run, is left out. Written without the converter, which needs torch and knows tokenizers by
their hash. Needs numpy and gguf.
"""
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import random_snapshot as snapshot  # noqa: E402: the shapes

TYPES = {"BF16": (Type.BF16, gguf.LlamaFileType.MOSTLY_BF16), "Q8_0": (Type.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0)}


def random_tensor(rng: np.random.Generator, name: str, shape: list) -> np.ndarray:
    if "norm" in name.split(".")[-2]:
        return np.ones(shape, np.float32)
    return rng.standard_normal(shape, np.float32) * np.float32(0.02)


def add(writer: gguf.GGUFWriter, name: str, values: np.ndarray, kind: Type) -> None:
    """Matrices in `kind`; vectors and what its blocks do not divide stay as converters leave them."""
    if values.ndim == 1:
        writer.add_tensor(name, values)
    elif values.ndim > 2:  # convolutions
        writer.add_tensor(name, values.astype(np.float16))
    else:
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)


def mapped(names: gguf.TensorNameMap, name: str) -> str:
    short = name.removeprefix("model.").replace("language_model.", "model.")
    found = names.get_name(short, (".weight", ".bias"))
    if found is None:
        raise ValueError(f"llama.cpp has no name for {name}")
    return found


def add_vocabulary(writer: gguf.GGUFWriter) -> None:
    tokenizer = snapshot.tokenizer()
    size = snapshot.TEXT["vocab_size"]
    tokens, kinds = [f"[unused{i}]" for i in range(size)], [gguf.TokenType.UNUSED] * size
    for text, token in tokenizer["model"]["vocab"].items():
        tokens[token], kinds[token] = text, gguf.TokenType.NORMAL
    for added in tokenizer["added_tokens"]:
        tokens[added["id"]], kinds[added["id"]] = added["content"], gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("chatglm-bpe")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_eos_token_id(snapshot.FIRST_ADDED_TOKEN)


def write_text(path: Path, kind: Type, file_type: gguf.LlamaFileType) -> None:
    text, rng = snapshot.TEXT, np.random.default_rng(1)
    writer = gguf.GGUFWriter(path, "glm4")
    writer.add_file_type(file_type)
    writer.add_block_count(text["num_hidden_layers"])
    writer.add_context_length(text["max_position_embeddings"])
    writer.add_embedding_length(text["hidden_size"])
    writer.add_feed_forward_length(text["intermediate_size"])
    writer.add_head_count(text["num_attention_heads"])
    writer.add_head_count_kv(text["num_key_value_heads"])
    writer.add_key_length(text["head_dim"])
    writer.add_value_length(text["head_dim"])
    writer.add_rope_dimension_count(text["head_dim"])
    writer.add_rope_dimension_sections([*snapshot.MROPE_SECTION, 0])
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    add_vocabulary(writer)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GLM4, text["num_hidden_layers"])
    for name, shape in snapshot.text_shapes().items():
        if not name.startswith(snapshot.DRAFT + "."):
            add(writer, mapped(names, name), random_tensor(rng, name, shape), kind)
    finish(writer)


def write_vision(path: Path, kind: Type, file_type: gguf.LlamaFileType) -> None:
    vision, rng = snapshot.VISION, np.random.default_rng(2)
    preprocessor = snapshot.read_mini("preprocessor_config.json")
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_type("mmproj")
    writer.add_file_type(file_type)
    writer.add_clip_has_vision_encoder(True)
    writer.add_clip_projector_type(gguf.VisionProjectorType.GLM4V)
    writer.add_vision_projection_dim(snapshot.TEXT["hidden_size"])
    writer.add_vision_image_size(336)
    writer.add_vision_patch_size(preprocessor["patch_size"])
    writer.add_vision_embedding_length(vision["hidden_size"])
    writer.add_vision_feed_forward_length(vision["intermediate_size"])
    writer.add_vision_block_count(vision["depth"])
    writer.add_vision_head_count(vision["num_heads"])
    writer.add_vision_image_mean(preprocessor["image_mean"])
    writer.add_vision_image_std(preprocessor["image_std"])
    writer.add_vision_use_silu(True)
    writer.add_vision_attention_layernorm_eps(1e-5)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, vision["depth"])
    for name, shape in snapshot.vision_shapes().items():
        values = random_tensor(rng, name, shape)
        if name.endswith("patch_embed.proj.weight"):  # one convolution for each of the two frames
            add(writer, "v.patch_embd.weight", np.ascontiguousarray(values[:, :, 0]), kind)
            add(writer, "v.patch_embd.weight.1", np.ascontiguousarray(values[:, :, 1]), kind)
        elif name.endswith("patch_embed.proj.bias"):
            add(writer, "v.patch_embd.bias", values, kind)
        else:
            add(writer, mapped(names, name), values, kind)
    finish(writer)


def finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for label, (kind, file_type) in TYPES.items():
        write_text(out / f"text-{label}.gguf", kind, file_type)
        write_vision(out / f"vision-{label}.gguf", kind, file_type)


if __name__ == "__main__":
    main()
