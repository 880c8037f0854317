#!/usr/bin/env python3
"""Write what the reference implementation (transformers, float32) computes for a snapshot of yours.

    make_golden.py --model SNAPSHOT --out DIR [--prompt TEXT] [--max-new-tokens N] [--pages FILE...]

DIR/CASE/ gets image.png (what both sides read), golden.json (prompt, greedy answer, versions) and arrays: ids,
positions, patches, image embeddings, the last four rows of every layer, and the logits of every position of prompt and
answer. Logits of more than 64 MiB are kept as their 32 largest per row, their sum and their deviation.

run.sh sets up what this needs: torch and transformers. Memory: four bytes per weight and some GB.
"""
import argparse
import json
import os
import platform
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
import transformers
from transformers import AutoProcessor, GenerationConfig, GlmOcrForConditionalGeneration

import comparison
import crops

WHOLE_LOGITS_BYTES = 64 << 20
FORMAT = 1


def report(text):
    print(text, file=sys.stderr, flush=True)


def load(folder):
    """(model in float32 with eager attention, processor)"""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_grad_enabled(False)
    model = GlmOcrForConditionalGeneration.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return model.eval(), AutoProcessor.from_pretrained(folder)


def stop_ids(model):
    ids = model.generation_config.eos_token_id
    return ids if isinstance(ids, list) else [] if ids is None else [ids]


def generate(model, inputs, count):
    """Greedy -> (tokens with the stop token, logits [n, V] of every step)."""
    model.model.rope_deltas = None
    config = GenerationConfig(do_sample=False, max_new_tokens=count, eos_token_id=stop_ids(model) or None,
                              pad_token_id=model.config.text_config.pad_token_id, output_logits=True,
                              return_dict_in_generate=True)
    out = model.generate(**inputs, generation_config=config)
    return out.sequences[0, inputs["input_ids"].shape[1]:].tolist(), torch.cat(out.logits)


def with_answer(inputs, answer):
    """The inputs of prompt and answer in one pass."""
    longer = dict(inputs)
    longer["input_ids"] = torch.cat([inputs["input_ids"], torch.tensor([answer], dtype=torch.long)], 1)
    for name in ("attention_mask", "mm_token_type_ids"):
        if name in inputs:
            value = 1 if name == "attention_mask" else 0
            longer[name] = torch.cat([inputs[name], torch.full((1, len(answer)), value, dtype=inputs[name].dtype)], 1)
    return longer


def one_pass(model, inputs, prompt_len):
    """Logits [L, V] and stages of one pass without a cache."""
    stages, hooks = {}, []

    def keep(name, rows):
        def hook(_module, _inputs, out):
            out = out[0] if isinstance(out, tuple) else out
            stages[name] = rows(out).detach().numpy().copy()
        return hook

    hooks.append(model.model.visual.merger.register_forward_hook(keep("vision_embeds", lambda x: x)))
    for i, layer in enumerate(model.model.language_model.layers):
        hooks.append(layer.register_forward_hook(keep(f"layer{i}", lambda x: x[0, prompt_len - 4:prompt_len])))
    model.model.rope_deltas = None
    logits = model(**inputs, use_cache=False).logits[0].numpy()
    for hook in hooks:
        hook.remove()
    return logits, stages


def positions_of(model, inputs):
    """[3, L]"""
    positions, _ = model.model.get_rope_index(inputs["input_ids"], mm_token_type_ids=inputs["mm_token_type_ids"],
                                              image_grid_thw=inputs["image_grid_thw"])
    return positions[:, 0].numpy().astype(np.int64)


def own_difference(stepwise, logits):
    """Largest difference of the reference to itself, one pass against steps with a cache, deviations."""
    stepwise = stepwise.numpy()
    return float((np.abs(stepwise - logits).max(axis=1) / logits.std(axis=1)).max())


def make_case(model, processor, image, options, folder):
    folder.mkdir(parents=True, exist_ok=True)
    image.save(folder / "image.png")
    content = [{"type": "image"}, {"type": "text", "text": options.prompt}]
    prompt = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
    inputs = processor(text=[prompt], images=[image], return_tensors="pt")
    ids = inputs["input_ids"][0].numpy().astype(np.int64)
    tokens, stepwise = generate(model, inputs, options.max_new_tokens)
    stopped = tokens[-1] in stop_ids(model)
    answer = tokens[:-1] if stopped else tokens
    logits, arrays = one_pass(model, with_answer(inputs, answer), len(ids))
    own = own_difference(stepwise, logits[len(ids) - 1:len(ids) - 1 + len(tokens)])
    arrays.update(input_ids=ids, position_ids=positions_of(model, inputs), pixel_values=inputs["pixel_values"].numpy())
    if logits.nbytes <= WHOLE_LOGITS_BYTES:
        arrays["logits"] = logits
    else:
        following = np.concatenate([ids[1:], answer, [logits[-1].argmax()]]).astype(np.int64)
        arrays.update(comparison.compact(logits, following))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    golden = {"format": FORMAT, "prompt": options.prompt, "rendered": prompt, "answer": answer,
              "ended_by": "stop" if stopped else "limit", "stop": stop_ids(model), "vocab": logits.shape[1],
              "max_new_tokens": options.max_new_tokens, "text": processor.decode(answer, skip_special_tokens=True),
              "own_difference": own, "arrays": sorted(arrays)}
    (folder / "golden.json").write_text(json.dumps(golden, ensure_ascii=False, indent=1), encoding="utf-8")
    return golden


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--prompt", default="Text Recognition:")
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--pages", type=Path, nargs="+", default=[])
    options = parser.parse_args(argv)
    images = crops.own_images(options.pages, options.model, report) if options.pages else \
        crops.sample_crops(options.model, report)
    model, processor = load(options.model)
    cases = []
    for name, image in images:
        golden = make_case(model, processor, image, options, options.out / name)
        cases.append(name)
        report(f"{name}: {len(golden['answer'])} tokens, the reference differs from itself by "
               f"{golden['own_difference']:.1e} deviations; it reads {golden['text'][:60]!r}")
    made = {"format": FORMAT, "cases": cases, "model": options.model.resolve().name, "torch": torch.__version__,
            "transformers": transformers.__version__, "numpy": np.__version__, "python": platform.python_version()}
    # Last: a run that was cut short leaves no golden.
    (options.out / "golden.json").write_text(json.dumps(made, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
