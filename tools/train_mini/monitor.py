"""The running score during training: a few held-out lines of every width."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from batches import Pool
from decode import Decoder
from model import MiniOcr, Prompt
from scoring import score

SHORT = 140


def validate(
    model: MiniOcr, prompt: Prompt, tok: Tokenizer, folder: Path, widest: int, per_width: int = 5
) -> dict[str, float]:
    """Greedy CER and draft acceptance on ``per_width`` monitoring lines of each width."""
    pool = Pool(folder, tok, 100_000)
    pool.refresh()
    decoder = Decoder(model.eval(), prompt)
    items, rounds = [], []
    for width in sorted(w for w in pool.buckets if w <= widest):
        for image, text in pool.buckets[width][:per_width]:
            ids, accepted = decoder.run(image, drafts=3)
            items.append((text, tok.decode(ids), ("all", "short") if width <= SHORT else ("all",)))
            rounds += accepted
    scores = score(items)
    out = {"cer": scores["all"]["cer"], "exact": scores["all"]["exact"], "lines": len(items)}
    if "short" in scores:
        out["cer_short"] = scores["short"]["cer"]
    return out | {
        f"A{j}": round(sum(r >= j for r in rounds) / max(1, len(rounds)), 3) for j in (1, 2, 3)
    }
