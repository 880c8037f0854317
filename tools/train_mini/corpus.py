"""Collect plain-text corpora from unpacked Debian packages and PyPI packages into one JSON file.

All training texts are in the public domain or under a permissive licence (table in README.md).
Every source becomes a list of normalised paragraphs.  Sources named in ``HELD_OUT`` never reach the
training file; they are written to a separate file that only the evaluation reads.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from pydoc_data.topics import topics

import locales
import sources
from charset import CHARSET
from sources import read_any, strip_html

# The Devil's Dictionary and the Debian FAQ are kept for evaluation only.
HELD_OUT = ("devil", "faq")
LARGEST_SOURCE = 6_000_000

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


def texts(root: Path) -> dict[str, Iterable[str]]:
    """Texts with paragraphs, by name of the source."""
    share, modules = root / "usr/share", "sword/modules/texts/ztext"
    r_library = root / "usr/lib/R/site-library"
    go = share / "go-1.19/src"
    return {
        "austen": ["\n".join(sources.r_lazy(r_library / "janeaustenr/data/Rdata.rdb"))],
        "bible": sources.sword_verses(share / modules / "engWEB2015eb"),
        "spanish": sources.sword_verses(share / modules / "spaRV1909eb"),
        "opticks": [read_any(go / "testdata/Isaac.Newton-Opticks.txt").replace("_", "")],
        "go": sources.go_comments(go),
        "python": (sources.plain_rst(text) for _, text in sorted(topics.items())),
        "wordnet": sources.wordnet_entries(read_any(share / "dictd/wn.dict.dz")),
        "jargon": [read_any(share / "dictd/jargon.dict.dz")],
        "devil": [read_any(share / "dictd/devil.dict.dz")],
        "faq": (
            strip_html(read_any(p)) for p in sorted((share / "doc/debian/FAQ").glob("*.en.html"))
        ),
    }


def collect(root: Path, seed: int) -> dict[str, list[str]]:
    """All sources by name."""
    out: dict[str, list[str]] = {}
    for name, found in texts(root).items():
        paras = [p for t in found for p in paragraphs(t)]
        random.Random(f"{seed} {name}").shuffle(paras)
        total, keep = 0, []
        for p in dict.fromkeys(paras):
            keep.append(p)
            total += len(p)
            if total > LARGEST_SOURCE:
                break
        out[name] = keep
    english = [normalise(w) for w in read_any(root / "usr/share/dict/american-english").split()]
    out["words_en"] = [w for w in english if w]
    folder = root / "usr/lib/R/site-library/SnowballC/words"
    for language in locales.LANGUAGES:
        found = (normalise(p) for p in locales.phrases(language, folder))
        out[f"words_{language}"] = [p for p in dict.fromkeys(found) if len(p) > 1]
    return out


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument(
        "--root", type=Path, required=True, help="folder the Debian packages were unpacked into"
    )
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    found = collect(args.root, args.seed)
    held = {k: v for k, v in found.items() if k in HELD_OUT}
    train = {k: v for k, v in found.items() if k not in HELD_OUT}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "train.json").write_text(json.dumps(train, ensure_ascii=False))
    (args.out / "heldout.json").write_text(json.dumps(held, ensure_ascii=False))
    for name, paras in found.items():
        print(
            f"{name:10s} {len(paras):7d} items {sum(map(len, paras)):9d} chars",
            "held out" if name in HELD_OUT else "",
        )


if __name__ == "__main__":
    main()
