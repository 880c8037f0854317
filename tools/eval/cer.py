#!/usr/bin/env python3
"""Error rates and cost of platen, beside Tesseract and RapidOCR on the same pages in the same run.

    tools/eval/cer.py --platen build/bin/platen --scans assets/samples [--scans DIR ...]
                      [--tesseract] [--rapidocr] [--ocr-options "--precision f32"] [--json FILE]

A scans folder holds pages/NAME.EXT with gt/NAME.txt, and synthetic/NAME.EXT with NAME.json (key
pages[].text). Errors are counted with rapidfuzz after one normalisation of both sides: NFKC;
typographic quotes, dashes and the fraction slash to ASCII; dot leaders to one space; every run of
white space to one space. Case and accents count, line breaks do not. Two rates ignore the order of
words, so that mistakes of reading order do not count there: the word bag error is the words of the truth
that were not found plus the words found too many, over the words of the truth, 1 at most; in the bag word
error rate one missing and one wrong word make one error.

Cost is CPU time of the process and its children. Pages are read one after the other by Tesseract and
as one run by platen and by RapidOCR (read_with_rapidocr.py), all on one thread, so that none pays for
the other's cores.

Needs Python 3.9, rapidfuzz (requirements.txt), for --tesseract the Debian packages tesseract-ocr,
tesseract-ocr-deu and tesseract-ocr-fra, for --rapidocr the PyPI packages rapidocr and onnxruntime.
"""
import argparse
import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz.distance import Levenshtein

IMAGES = {".png", ".jpg", ".tif"}
LANGUAGES = {"en": "eng", "fr": "fra", "de": "deu"}
RAPIDOCR = Path(__file__).resolve().with_name("read_with_rapidocr.py")
RATES = {"cer": "CER", "word_bag": "word bag", "bag_wer": "bag WER"}
SHOWN = ("cer", "word_bag")  # page by page; the sums show all
ASCII = str.maketrans({
    "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'",
    "`": "'", "´": "'", "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-", "⁄": "/", "ſ": "s",
    "\u00ad": "-", "ﬁ": "fi", "ﬂ": "fl"})


@dataclass
class Page:
    path: Path
    truth: str
    language: str


def normalise(text: str) -> str:
    text = re.sub("[☐☑☒]", " ", text)  # drawn, not written: truths do not have them
    text = unicodedata.normalize("NFKC", text.translate(ASCII)).translate(ASCII)
    text = re.sub(r"(?:\s*[.·]){3,}", " ", text.replace("''", '"'))
    return " ".join(text.split())


def score(truth: str, hypothesis: str) -> dict:
    truth, hypothesis = normalise(truth), normalise(hypothesis)
    words, read = Counter(truth.split()), Counter(hypothesis.split())
    missed, invented = sum((words - read).values()), sum((read - words).values())
    count = max(1, sum(words.values()))
    return {"chars": len(truth), "cer": Levenshtein.distance(truth, hypothesis) / max(1, len(truth)),
            "word_bag": min(1.0, (missed + invented) / count), "bag_wer": max(missed, invented) / count}


def tesseract_language(codes: str) -> str:
    known = [LANGUAGES[code] for code in codes.split(",") if code in LANGUAGES]
    return "+".join(known) or "eng"


def find_pages(folder: Path) -> list:
    manifest = folder / "manifest.json"
    entries = json.loads(manifest.read_text())["entries"] if manifest.exists() else []
    languages = {entry["file"]: entry.get("language", "en") for entry in entries}
    pages = []
    for path in sorted((folder / "pages").glob("*")):
        truth = folder / "gt" / (path.stem + ".txt")
        if path.suffix in IMAGES and truth.exists():
            language = languages.get(f"pages/{path.name}", "en")
            pages.append(Page(path, truth.read_text(), tesseract_language(language)))
    for path in sorted((folder / "synthetic").glob("*")):
        truth = path.with_suffix(".json")
        if path.suffix in IMAGES and truth.exists():
            text = "\n\n".join(page["text"] for page in json.loads(truth.read_text())["pages"])
            pages.append(Page(path, text, "eng"))
    return pages


def cpu_of(command: list, good: tuple = (0,), **options) -> float:
    """Runs a command that ends with a good exit code; its CPU seconds, children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode not in good:
        raise SystemExit(f"{shlex.join(map(str, command))}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def read_with_platen(platen: Path, pages: list, options: list, folder: Path) -> tuple:
    manifest = folder / "pages.txt"
    manifest.write_text("".join(f"{page.path.resolve()}\n" for page in pages))
    seconds = cpu_of([platen, "ocr", "--manifest", manifest, "-o", folder / "out", "--threads", "1",
                      "--format", "txt", "--quiet", *options], good=(0, 1))  # 1: a page failed
    texts = {path.name: path.read_text() for path in (folder / "out").rglob("*.txt")}
    return [texts.get(page.path.name + ".txt", "") for page in pages], seconds


def read_with_tesseract(pages: list, folder: Path) -> tuple:
    texts, seconds = [], 0.0
    for page in pages:
        base = folder / page.path.name
        seconds += cpu_of(["tesseract", page.path, base, "-l", page.language, "--psm", "3"],
                          env={**os.environ, "OMP_THREAD_LIMIT": "1"})
        texts.append(Path(f"{base}.txt").read_text())
    return texts, seconds


def read_with_rapidocr(pages: list, folder: Path) -> tuple:
    manifest, out = folder / "rapidocr.txt", folder / "rapidocr"
    out.mkdir()
    manifest.write_text("".join(f"{page.path.resolve()}\n" for page in pages))
    seconds = cpu_of([sys.executable, RAPIDOCR, manifest, out],
                     env={**os.environ, "OMP_NUM_THREADS": "1"})
    return [(out / f"{number}.txt").read_text() for number in range(len(pages))], seconds


def summary(rows: list) -> dict:
    return {key + suffix: round(function(row[key] for row in rows), 4) for key in RATES
            for suffix, function in (("_median", statistics.median), ("_mean", statistics.fmean))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--platen", type=Path, required=True)
    parser.add_argument("--scans", type=Path, action="append", required=True)
    parser.add_argument("--tesseract", action="store_true")
    parser.add_argument("--rapidocr", action="store_true", help="PP-OCRv6 small")
    parser.add_argument("--ocr-options", default="", help="further options of platen ocr, one string")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = []
    for folder in options.scans:
        pages = find_pages(folder)
        with tempfile.TemporaryDirectory() as work:
            texts, seconds = read_with_platen(options.platen, pages, shlex.split(options.ocr_options),
                                              Path(work))
            systems = {"platen": (texts, seconds)}
            if options.tesseract:
                systems["tesseract"] = read_with_tesseract(pages, Path(work))
            if options.rapidocr:
                systems["rapidocr"] = read_with_rapidocr(pages, Path(work))
        names = list(systems)
        print(f"{folder}\n{'page':34}"
              + "".join(f"{name + ' ' + RATES[key]:>20}" for key in SHOWN for name in names))
        scores = {name: [score(page.truth, text) for page, text in zip(pages, systems[name][0])]
                  for name in names}
        for i, page in enumerate(pages):
            print(f"{page.path.parent.name + '/' + page.path.name:34}"
                  + "".join(f"{scores[name][i][key]:20.4f}" for key in SHOWN for name in names))
        groups = sorted({page.path.parent.name for page in pages})
        for name in names:
            cost = systems[name][1]
            print(f"{name}: {len(pages)} pages, {cost:.2f} core-seconds, "
                  f"{3600 * len(pages) / cost:.0f} pages per core-hour")
            for group in groups:
                rows = [row for row, page in zip(scores[name], pages) if page.path.parent.name == group]
                print(f"  {group}: {summary(rows)}")
        report.append({"scans": str(folder), "pages": [
            {"page": page.path.name, **{name: scores[name][i] for name in names}}
            for i, page in enumerate(pages)],
            "core_seconds": {name: systems[name][1] for name in names}})
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
