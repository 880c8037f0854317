#!/usr/bin/env python3
"""Run `platen forward` on every golden case and compare the dumps: compare_all.py PLATEN

PLATEN is the program to test (build/bin/platen). One line per case; exit status 1 if a case differs. Needs numpy only.
"""
import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import compare

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
# The reference clips 16-bit gray to white; platen scales it, so the case cannot be reached from the image file.
SKIPPED = {"gray16": "the reference clips 16-bit gray; the C++ tests feed its decoded array"}


def forward(platen, case, golden, dump):
    """Runs the case; the dump lands in `dump`."""
    command = [platen, "forward", str(GOLDEN / "snapshots" / golden["snapshot"]), "--prompt", golden["text"],
               "--precision", "f32", "--ignore-stop", "--draft-length", "4", "--dump", str(dump),
               "--max-new-tokens", str(len(golden["greedy"]["tokens"]))]
    for image in golden["images"]:
        command += ["--image", str(GOLDEN / "images" / image)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main():
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platen", help="the program to test")
    args = parser.parse_args()
    failed = 0
    for case in sorted(path.parent for path in GOLDEN.glob("cases/*/*/golden.json")):
        label = f"{case.parent.name}/{case.name}"
        if case.name in SKIPPED:
            print(f"skip  {label}: {SKIPPED[case.name]}")
            continue
        golden = json.loads((case / "golden.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as dump:
            forward(args.platen, case, golden, dump)
            runs = json.loads((GOLDEN / "mtp" / golden["snapshot"] / "speculative.json").read_text(encoding="utf-8"))
            rounds = ["--rounds", "k4"] if f"{case.name}.k4" in runs else []
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                status = compare.main([dump, str(case), *rounds])
        lines = text.getvalue().splitlines()
        print(f"{'MISS' if status else 'ok  '}  {label}: {lines[-1]}", flush=True)
        if status:
            failed += 1
            print("\n".join(f"      {line}" for line in lines if line.startswith("MISS")))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
