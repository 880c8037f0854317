#!/usr/bin/env python3
"""Reads pages with RapidOCR's default models (PP-OCRv6 small), on one thread: cer.py --rapidocr.

    read_with_rapidocr.py MANIFEST OUT

MANIFEST names one image a line. OUT/N.txt gets the lines of image N, counted from 0, in the order in
which RapidOCR gives them. Pages are decoded here: its own reader sees nothing in some PNG files.

Needs the PyPI packages rapidocr and onnxruntime (requirements.txt); the models are inside of rapidocr.
"""
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from rapidocr import RapidOCR

ONE_THREAD = {"EngineConfig.onnxruntime.intra_op_num_threads": 1,
              "EngineConfig.onnxruntime.inter_op_num_threads": 1,
              "Global.log_level": "error"}


def pixels(path: str) -> np.ndarray:
    """The image as uint8 [height, width, 3], blue first."""
    with Image.open(path) as image:
        return np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])


def main() -> None:
    manifest, out = map(Path, sys.argv[1:])
    cv2.setNumThreads(1)
    engine = RapidOCR(params=ONE_THREAD)
    for number, page in enumerate(manifest.read_text().splitlines()):
        lines = engine(pixels(page)).txts or ()  # None where nothing was found
        (out / f"{number}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
