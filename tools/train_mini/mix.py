"""The mean of two snapshots' weights, which may read better than either (README.md).

Weights of one run, or of two runs of which one goes on from the other, can be averaged; those of
unrelated runs cannot.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from torch import Tensor

from export import export
from snapshot import new_model
from state import init_from, save_heads


def weights_of(snapshot: Path, heads: Path) -> dict[str, Tensor]:
    """All weights of a snapshot and the training heads kept beside it."""
    model = new_model()
    init_from(model, snapshot, heads)
    return model.state_dict()


def mix(first: dict[str, Tensor], second: dict[str, Tensor], share: float) -> dict[str, Tensor]:
    """``share`` of ``second`` and the rest of ``first``."""
    return {name: value.lerp(second[name], share) for name, value in first.items()}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--snapshots", type=Path, nargs=2, required=True, metavar=("FIRST", "SECOND"))
    ap.add_argument("--heads", type=Path, nargs=2, required=True, metavar=("FIRST", "SECOND"))
    ap.add_argument("--share", type=float, default=0.5, help="how much of SECOND")
    ap.add_argument("--tokenizer", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True, help="folder for the new snapshot")
    ap.add_argument("--out-heads", type=Path, help="folder for its training heads")
    args = ap.parse_args()
    first, second = map(weights_of, args.snapshots, args.heads)
    mixed = mix(first, second, args.share)
    export(mixed, args.tokenizer, args.out)
    if args.out_heads:
        save_heads(args.out_heads, mixed)


if __name__ == "__main__":
    main()
