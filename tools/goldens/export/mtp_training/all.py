"""Regenerate the training goldens: `python -m export.mtp_training.all [--root FOLDER] [part ...]`; parts glm, residual, latent, seed002,
checks, mistakes."""
import argparse
import time
from pathlib import Path

from ..common import GOLDEN, write_json

from . import checks, glm, minillm_heads, mistakes, seed002

PARTS = ("glm", "residual", "latent", "seed002", "checks", "mistakes")
TEXT = "the quick brown fox: 中文文本识别 12.5%\n\nInvoice No. 7"


def glm_jobs(images):
    """(name, image paths, text, output tokens); the last page is shorter than K = 5 steps need."""
    return [("exif6", [images / "exif6.jpg"], "Table Recognition:", 24),
            ("two_images", [images / "tiny20.png", images / "exif6.jpg"], "Text Recognition:", 15), ("text_only", [], TEXT, 4)]


def main(root, parts):
    """Run the named parts in order, reading and writing below `root`."""
    base, jobs = root / "mtp_training", glm_jobs(root / "images")
    for part in parts:
        t = time.time()
        if part == "glm":
            glm.export(root, base / "glm" / "tiny-a", "tiny-a", jobs, 4100)
            glm.export(root, base / "glm" / "tiny-b", "tiny-b", jobs[:2], 4200, glm.Plan(runs=("n",), marks=(10, 50)))
        elif part == "residual":
            minillm_heads.export_residual(root, base / "residual", "v3-dense-half", [("a", 9, 22), ("b", 14, 13), ("c", 6, 4)], 5100)
        elif part == "latent":
            minillm_heads.export_latent(root, base / "latent" / "moe-yarn", "v3-moe-yarn", True, [("a", 11, 18), ("b", 7, 12), ("c", 5, 4)], 5200)
            minillm_heads.export_latent(root, base / "latent" / "dense-half", "v3-dense-half", False, [("a", 11, 14), ("b", 7, 5)], 5300)
        elif part == "seed002":
            seed002.export_shapes(base / "seed002" / "shapes", 6100)
            seed002.export_curves(base / "seed002" / "curves", 6200)
        elif part == "checks":
            write_json(base / "checks.json", checks.run_all(root, base))
        elif part == "mistakes":
            for row in mistakes.summary(mistakes.export(base)):
                print("| {} | {} | {} | {} {:.3g}{} |".format(*row[:5], " (+ shape)" if row[5] else ""))
        else:
            raise SystemExit(f"unknown part {part}; known: {', '.join(PARTS)}")
        print(f"{part}: {time.time() - t:.1f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=GOLDEN, help="folder of the goldens (default: tests/golden)")
    parser.add_argument("parts", nargs="*", metavar="part", help="what to regenerate (default: everything)")
    args = parser.parse_args()
    main(args.root, args.parts or PARTS)
