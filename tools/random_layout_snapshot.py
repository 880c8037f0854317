#!/usr/bin/env python3
"""Write a snapshot of PP-DocLayoutV3's exact size with random weights: for measuring, not for finding regions.

    tools/random_layout_snapshot.py OUT_DIR [--seed N]

The tensors of tests/golden/pp_doclayout/full/tensors.txt that a published file holds, 126 MB of F32, and the released
configuration. What it finds is noise, but activations stay finite and of ordinary size: every convolution and linear
has unit gain, batch norms pass their input on, positions are sampled around the queries' boxes.

The same seed gives the same bytes with the same numpy. Needs Python 3.9 and numpy.
"""
import argparse
import json
import math
import struct
from pathlib import Path

import numpy as np

FULL = Path(__file__).resolve().parent.parent / "tests" / "golden" / "pp_doclayout" / "full"


def tensors() -> dict:
    """Published name -> shape, of what a file must hold."""
    found = {}
    for line in (FULL / "tensors.txt").read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        name, _, _, shape, stored = (field.strip() for field in line.split("|"))
        if stored == "yes":
            found[name] = json.loads(shape)
    return found


def values(name: str, shape: list, rng: np.random.Generator) -> np.ndarray:
    if name.endswith("running_var") or (len(shape) == 1 and name.endswith("weight")):
        return np.ones(shape, np.float32)
    if name.endswith("running_mean") or name.endswith("bias"):
        return (0.1 * rng.standard_normal(shape)).astype(np.float32)
    depth = math.prod(shape[1:])
    gain = 2.0 if len(shape) == 4 else 1.0  # most convolutions stand before a ReLU
    return (math.sqrt(gain / depth) * rng.standard_normal(shape)).astype(np.float32)


def write(path: Path, arrays: dict) -> None:
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            out.write(array.tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out_dir", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    args.out_dir.mkdir(parents=True, exist_ok=True)
    write(args.out_dir / "model.safetensors", {name: values(name, shape, rng) for name, shape in tensors().items()})
    (args.out_dir / "config.json").write_text((FULL / "config.json").read_text())
    processor = {"image_processor_type": "PPDocLayoutV3ImageProcessor", "do_resize": True, "do_rescale": True,
                 "do_normalize": True, "resample": 3, "rescale_factor": 1 / 255, "image_mean": [0, 0, 0],
                 "image_std": [1, 1, 1], "size": {"height": 800, "width": 800}}
    (args.out_dir / "preprocessor_config.json").write_text(json.dumps(processor, indent=1) + "\n")


if __name__ == "__main__":
    main()
