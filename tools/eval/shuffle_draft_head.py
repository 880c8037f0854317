#!/usr/bin/env python3
"""Copies a snapshot and shuffles the weights of its draft layer, to show what the draft head is worth.

    tools/eval/shuffle_draft_head.py SNAPSHOT OUT [--seed 1]

Every matrix of the MTP layer is permuted element by element (norms, embedding and head copies stay).
With such a snapshot platen must write the same text, and about one token per target pass.
Needs Python 3.9 and numpy.
"""
import argparse
import json
import shutil
import struct
from pathlib import Path

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shutil.copytree(options.snapshot, options.out)
    layers = json.loads((options.out / "config.json").read_text())["text_config"]["num_hidden_layers"]
    prefix = f"model.language_model.layers.{layers}."
    path = options.out / "model.safetensors"
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    rng = np.random.default_rng(options.seed)
    shuffled = 0
    for name, entry in sorted(header.items()):
        if not name.startswith(prefix) or len(entry["shape"]) != 2:
            continue
        if name.endswith(("embed_tokens.weight", "shared_head.head.weight")):
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        size = (end - begin) // int(np.prod(entry["shape"]))
        values = np.frombuffer(bytes(data[begin:end]), dtype=f"<u{size}")
        data[begin:end] = rng.permutation(values).tobytes()
        shuffled += 1
    path.write_bytes(data)
    print(f"{shuffled} matrices of the draft layer shuffled in {options.out}")


if __name__ == "__main__":
    main()
