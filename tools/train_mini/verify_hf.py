"""Check a snapshot against the transformers library: logits and greedy answers in float32."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from PIL import Image
from tokenizers import Tokenizer
from torch import Tensor
from transformers import GlmOcrForConditionalGeneration
from transformers.models.glm46v.image_processing_pil_glm46v import Glm46VImageProcessorPil

from batches import make_prompt
from decode import Decoder
from evaluate import build_set
from model import MiniOcr, Prompt
from render import Line
from snapshot import load_snapshot

TOLERANCE = 1e-3


def our_logits(model: MiniOcr, prompt: Prompt, line: Line, ids: Tensor) -> Tensor:
    """Logits [L, vocab] of the training model."""
    merged, _ = model.encode(torch.from_numpy(line.image[None].copy()))
    return model.lm_head(model.trunk(merged, ids, len(prompt.before))[0])[0]


@torch.no_grad()
def compare(
    hf: GlmOcrForConditionalGeneration,
    processor: Glm46VImageProcessorPil,
    ours: MiniOcr,
    prompt: Prompt,
    line: Line,
) -> tuple[float, bool]:
    """Largest logit difference on one line, and whether the greedy answers are the same."""
    pixels = processor(images=[Image.fromarray(line.image).convert("RGB")], return_tensors="pt")
    count = int(pixels["image_grid_thw"][0].prod()) // 4
    ids = torch.tensor([prompt.before + [prompt.image] * count + prompt.after])
    inputs = {
        "pixel_values": pixels["pixel_values"],
        "image_grid_thw": pixels["image_grid_thw"],
        "mm_token_type_ids": (ids == prompt.image).int(),
        "input_ids": ids,
    }
    difference = float((hf(**inputs).logits[0] - our_logits(ours, prompt, line, ids)).abs().max())
    answer = hf.generate(
        **inputs, attention_mask=torch.ones_like(ids), max_new_tokens=160, do_sample=False
    )
    answer = [t for t in answer[0, ids.shape[1] :].tolist() if t not in (prompt.stop, prompt.pad)]
    return difference, answer == Decoder(ours, prompt).run(line.image)[0]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--snapshot", type=Path, required=True)
    ap.add_argument("--corpus", type=Path, required=True)
    ap.add_argument("--fonts", type=Path, required=True)
    ap.add_argument("--font-dir", type=Path, required=True)
    ap.add_argument("--lines", type=int, default=20)
    ap.add_argument("--seed", type=int, default=4242)
    args = ap.parse_args()
    torch.set_num_threads(1)
    hf = GlmOcrForConditionalGeneration.from_pretrained(
        args.snapshot, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    processor = Glm46VImageProcessorPil.from_pretrained(args.snapshot)
    prompt = make_prompt(Tokenizer.from_file(str(args.snapshot / "tokenizer.json")))
    ours = load_snapshot(args.snapshot)
    results = [
        compare(hf, processor, ours, prompt, line)
        for line in build_set(args.corpus, args.fonts, args.font_dir, args.lines, args.seed)
    ]
    worst, same = max(d for d, _ in results), sum(s for _, s in results)
    print(f"largest logit difference {worst:.2e}; same greedy answers {same}/{len(results)}")
    if worst > TOLERANCE or same < len(results):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
