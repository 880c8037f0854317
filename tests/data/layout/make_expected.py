#!/usr/bin/env python3
"""Writes expected.json: what prototype.py finds on the sample pages.

    make_expected.py [--samples assets/samples]

Needs Python 3.9, numpy, Pillow and opencv-python-headless 4.6 (other versions may differ by a pixel).
"""
import argparse
import json
import pathlib

import cv2
import numpy as np
from PIL import Image

import prototype

HERE = pathlib.Path(__file__).parent


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--samples", type=pathlib.Path, default=HERE.parents[2] / "assets" / "samples")
    samples = ap.parse_args().samples
    cv2.setNumThreads(1)
    cv2.ipp.setUseIPP(False)  # Debian's OpenCV is built without
    files = [f for folder in ("pages", "synthetic") for f in sorted((samples / folder).iterdir())]
    pages = {}
    for file in files:
        if file.suffix not in (".jpg", ".png", ".tif"):
            continue
        found = prototype.segment(np.asarray(Image.open(file).convert("L")))
        lines = [[round(v, 2) for v in line["box"]] + [line["block"]] for line in found["lines"]]
        name = file.relative_to(samples).as_posix()
        pages[name] = {"skew": round(found["skew"], 3), "xh": found["xh"], "lines": lines}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(page)}" for name, page in pages.items())
    about = f"box and block of every line, made by make_expected.py with OpenCV {cv2.__version__}"
    (HERE / "expected.json").write_text(
        f'{{"about": {json.dumps(about)},\n"pages": {{\n{rows}\n}}}}\n'
    )


if __name__ == "__main__":
    main()
