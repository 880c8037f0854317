"""Collect plain-text corpora from unpacked Debian packages into one JSON file.

Every source becomes a list of normalised paragraphs.  Sources named in
``HELD_OUT`` never reach the training file; they are written to a separate file
that only the evaluation reads.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from charset import CHARSET

# The Devil's Dictionary and the Debian FAQ are kept for evaluation only.
HELD_OUT = ("devil", "faq")

_TRANSLATE = {
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
    "\u2010": "-",
    "\u2011": "-",
    "\u2012": "-",
    "\u2212": "-",
    "\u00ad": "",
    "\u2032": "'",
    "\u201a": ",",
    "\u2022": "•",
    "\u00b4": "'",
}


def normalise(text: str) -> str:
    """NFC, map look-alikes, collapse blanks; words with unsupported characters are dropped."""
    text = unicodedata.normalize("NFC", text)
    for old, new in _TRANSLATE.items():
        text = text.replace(old, new)
    text = text.replace("``", "“").replace("''", "”")
    words = [w for w in text.split() if all(c in CHARSET for c in w) and len(w) <= 40]
    return " ".join(words)


def paragraphs(text: str, minimum: int = 20) -> list[str]:
    """Blank-line separated paragraphs after normalisation."""
    out = []
    for block in re.split(r"\n\s*\n", text):
        block = re.sub(r"(\w)-\n\s*(\w)", r"\1\2", block)
        para = normalise(block)
        letters = sum(c.isalpha() for c in para)
        if len(para) >= minimum and letters > 0.6 * len(para.replace(" ", "")):
            out.append(para)
    return out


def read_any(path: Path) -> str:
    """Read a text file, transparently decompressing gzip and dictzip."""
    raw = gzip.open(path).read() if path.suffix in (".gz", ".dz") else path.read_bytes()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def strip_html(text: str) -> str:
    """Remove tags, keeping block ends as blank lines."""
    text = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", " ", text)
    text = re.sub(r"(?i)</(p|li|h\d|dt|dd|td|pre)>", "\n\n", text)
    return html.unescape(re.sub(r"<[^>]+>", " ", text))


def strip_roff(text: str) -> str:
    """Very small roff to text conversion, good enough for prose sampling."""
    lines = []
    for line in text.splitlines():
        if line.startswith((".SH", ".SS", ".TP", ".PP", ".P", ".LP", ".IP")):
            lines.append("")
            continue
        if line.startswith((".B", ".I", ".BR", ".RB", ".IR", ".BI")):
            line = line.split(" ", 1)[1] if " " in line else ""
        elif line.startswith((".", "'")):
            continue
        line = re.sub(r"\\f[A-Z]|\\f\([A-Z]{2}|\\&|\\,|\\/", "", line)
        line = line.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace('"', '"')
        lines.append(re.sub(r"\\\(..|\\\[[^\]]*\]", "", line))
    return "\n".join(lines)


def fortunes(folder: Path) -> Iterable[str]:
    """Fortune cookie texts (files that have a .dat index next to them)."""
    for dat in sorted(folder.glob("*.dat")):
        src = dat.with_suffix("")
        if src.exists() and "ascii-art" not in src.name:
            for cookie in read_any(src).split("\n%"):
                if "\x08" not in cookie:
                    yield cookie


def collect(root: Path, seed: int) -> dict[str, list[str]]:
    """All sources by name."""
    share = root / "usr/share"
    rng = random.Random(seed)
    out: dict[str, list[str]] = {}

    def add(name: str, texts: Iterable[str]) -> None:
        paras = [p for t in texts for p in paragraphs(t)]
        rng.shuffle(paras)
        total, keep = 0, []
        for p in dict.fromkeys(paras):
            keep.append(p)
            total += len(p)
            if total > 6_000_000:
                break
        out[name] = keep

    add("gcide", [read_any(share / "dictd/gcide.dict.dz")])
    add("jargon", [read_any(share / "dictd/jargon.dict.dz")])
    add("foldoc", [read_any(share / "dictd/foldoc.dict.dz")])
    add("devil", [read_any(share / "dictd/devil.dict.dz")])
    add("reference", [read_any(share / "debian-reference/debian-reference.en.txt.gz")])
    add("policy", [read_any(share / "doc/debian-policy/policy.txt.gz")])
    add(
        "handbook",
        (
            strip_html(read_any(p))
            for p in sorted((share / "doc/debian-handbook/html/en-US").glob("*.html"))
        ),
    )
    add(
        "faq",
        (strip_html(read_any(p)) for p in sorted((share / "doc/debian/FAQ").glob("*.en.html"))),
    )
    add("man", (strip_roff(read_any(p)) for p in sorted((share / "man").glob("man*/*.gz"))))
    games = share / "games/fortunes"
    add("fortunes", fortunes(games))
    add("foreign", (t for lang in ("de", "es", "it", "fr", "pt") for t in fortunes(games / lang)))
    for lang, file in {
        "words_en": "american-english",
        "words_fr": "french",
        "words_de": "ngerman",
        "words_es": "spanish",
        "words_it": "italian",
        "words_pt": "portuguese",
    }.items():
        words = [normalise(w) for w in read_any(share / "dict" / file).split()]
        words = [w for w in words if w]
        rng.shuffle(words)
        out[lang] = words[:60_000]
    return out


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument(
        "--root", type=Path, required=True, help="folder the Debian packages were unpacked into"
    )
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    sources = collect(args.root, args.seed)
    held = {k: v for k, v in sources.items() if k in HELD_OUT}
    train = {k: v for k, v in sources.items() if k not in HELD_OUT}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "train.json").write_text(json.dumps(train, ensure_ascii=False))
    (args.out / "heldout.json").write_text(json.dumps(held, ensure_ascii=False))
    for name, paras in sources.items():
        print(
            f"{name:10s} {len(paras):7d} items {sum(map(len, paras)):9d} chars",
            "held out" if name in HELD_OUT else "",
        )


if __name__ == "__main__":
    main()
