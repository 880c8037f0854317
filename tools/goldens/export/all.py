"""Regenerate the goldens: `python -m export.all [--root FOLDER] [part ...]`; parts snapshots, preprocess, tokens, bad, minillm, mutations."""
import argparse
import platform
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import PIL
import safetensors
import tokenizers
import torch
import torchvision
import transformers

from . import bad, cases, hf_mtp_check, images, mini_cases, mini_check, minillm, minillm_check, mutations, preprocess, tokens
from . import reference as R
from .common import GOLDEN, write_json
from .public_specs import SPECS

PARTS = ("snapshots", "preprocess", "tokens", "bad", "minillm", "mutations")
DETAIL, MTP_CASES = "exif6", ["exif6", "tall30x400"]


def versions():
    """Versions of everything that computes a golden."""
    mods = (torch, torchvision, transformers, tokenizers, safetensors, np, PIL)
    return {**{m.__name__: m.__version__ for m in mods}, "python": platform.python_version(), "torch_threads": torch.get_num_threads(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability()}


def main(root, parts):
    """Run the named parts in order, reading and writing below `root`."""
    write_json(root / "versions.json", versions())
    pics = images.make_public(root / "images")
    for part in parts:
        t = time.time()
        if part == "snapshots":
            shutil.rmtree(root / "pixels", ignore_errors=True)
            hf = {}
            for s in SPECS:
                print(cases.export_snapshot(s, root, root / "images", pics, DETAIL, MTP_CASES)["speculation"])
                for name, files in ((DETAIL, [DETAIL]), ("text_only", [])):
                    model, proc = R.load(root / "snapshots" / s.name)
                    _, x = R.make_inputs(proc, [root / "images" / pics[f] for f in files], R.PROMPTS["text"])
                    plain, _ = R.generate(model, x, 32)
                    model, proc = R.load(root / "snapshots" / s.name)
                    hf[f"{s.name}.{name}"] = hf_mtp_check.check(model, root / "snapshots" / s.name, x, plain)
            write_json(root / "mtp" / "transformers_mtp_check.json", hf)
        elif part == "preprocess":
            preprocess.export(root, image_dir=root / "images", images=pics)
        elif part == "tokens":
            for s in SPECS:
                tokens.export(root, s.name, None if s is SPECS[0] else 80)
            tokens.export_chat(root, SPECS[0].name)
        elif part == "bad":
            with tempfile.TemporaryDirectory() as d:
                bad.export(root, d)
        elif part == "minillm":
            minillm.export(root)
            print("\n".join(minillm_check.export(root, list(minillm.CONFIGS))))
            mini_cases.export(root)
            rows, missed = mini_check.export(root, mini_cases.CASES)
            print("\n".join(rows), missed)
        elif part == "mutations":
            rows, options = mutations.export(root, [s.name for s in SPECS])
            print("\n".join(rows))
            print(options)
        else:
            raise SystemExit(f"unknown part {part}; known: {', '.join(PARTS)}")
        print(f"{part}: {time.time() - t:.1f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=GOLDEN, help="folder of the goldens (default: tests/golden)")
    parser.add_argument("parts", nargs="*", metavar="part", help="what to regenerate (default: everything)")
    args = parser.parse_args()
    main(args.root, args.parts or PARTS)
