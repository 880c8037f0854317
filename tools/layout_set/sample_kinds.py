#!/usr/bin/env python3
"""Which kinds the regions of the sample pages are found as, beside those that people see in them.

    tools/layout_set/sample_kinds.py --platen build/bin/platen [--only pages/]

Truth is assets/samples/kinds.json. Needs Python 3.10 and rapidfuzz.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "assets" / "samples"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "eval"))

from structure import Structure, kind_pairs  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--platen", type=Path, required=True)
    parser.add_argument("--only", default="", help="pages whose names begin so")
    options = parser.parse_args()
    truth = json.loads((SAMPLES / "kinds.json").read_text())["pages"]
    pages = {name: regions for name, regions in truth.items() if name.startswith(options.only)}
    structure = Structure()
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "out"
        subprocess.run([options.platen, "ocr", *(SAMPLES / name for name in pages), "--input-root", SAMPLES, "-o", out,
                        "--format", "json", "--quiet"], check=True)
        for name, regions in pages.items():
            found = json.loads((out / f"{name}.json").read_text())["pages"][0]
            page = {"height": found["height"], "regions": regions, "tables": []}
            for (true, other), region in zip(kind_pairs(page, found), regions):
                if true != other:
                    print(f"{name}: {region['box']} {true} found as {other or 'nothing'}")
            structure.kinds.update(kind_pairs(page, found))
    right = sum(n for (true, found), n in structure.kinds.items() if true == found)
    structure.print()
    print(f"all: {right} of {structure.kinds.total()}")


if __name__ == "__main__":
    main()
