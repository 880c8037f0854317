#!/usr/bin/env python3
"""Draw a page beside its text: the scan on the left, the Markdown that platen made of it on the right.

    tools/eval/page_beside_text.py SCAN.png OUT.png      (the picture of the README)

Needs chromium and cmark-gfm, and platen in build/bin.
"""
import argparse
import base64
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH, HEIGHT, SCALE = 1160, 580, 1.5
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; display: flex; gap: 28px; padding: 24px; background: #eef1f4; height: {height}px; box-sizing: border-box;
       font: 13px/1.4 "DejaVu Sans", sans-serif; color: #1c2733; }}
figure, article {{ margin: 0; flex: 1; background: #fff; box-shadow: 0 1px 6px #0003; overflow: hidden; }}
img {{ width: 100%; display: block; }}
article {{ padding: 10px 30px; }}
h1 {{ font-size: 20px; margin: .5em 0; }} h2 {{ font-size: 16px; margin: .5em 0; }} p {{ margin: .6em 0; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #b8c2cc; padding: 2px 9px; text-align: left; }}
</style><body><figure><img src="data:image/png;base64,{image}"></figure><article>{text}</article>"""


def markdown_of(scan):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "build/bin/platen", "ocr", scan, "-o", folder, "--format", "md", "-q"], check=True)
        return next(pathlib.Path(folder).glob("*.md")).read_text(encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scan", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    text = subprocess.run(["cmark-gfm", "-e", "table"], input=markdown_of(args.scan), capture_output=True, text=True,
                          check=True).stdout
    image = base64.b64encode(args.scan.read_bytes()).decode()
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        page.write_text(PAGE.format(image=image, text=text, height=HEIGHT), encoding="utf-8")
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}",
                        f"--force-device-scale-factor={SCALE}", f"--screenshot={args.out.resolve()}", page],
                       check=True, capture_output=True)


if __name__ == "__main__":
    main()
