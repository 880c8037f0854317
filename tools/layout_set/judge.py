#!/usr/bin/env python3
"""What a layout costs in text, class by class, on pages of generate.py.

    tools/layout_set/judge.py --platen build/bin/platen --set DIR [--tesseract] [--ocr-options "..."] [--json FILE]

For each class, means over its pages:

  CER          of the page as platen reads it
  true lines   CER of the same reader on the true lines in the true order (`platen run` on crops of them)
  loss         the difference: what the layout costs
  Tesseract    CER of `tesseract --psm 3`, with --tesseract
  bag          bag word error rate of platen: errors that are not of order
  invented     characters read on pages without text, in all

Below them how many regions of each kind were found as what they are, and how many cells of tables: at
their row and column, with their span, with at most a fifth of their characters wrong.

Errors are counted as in tools/eval/cer.py. Needs Python 3.9, OpenCV, numpy, rapidfuzz.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "eval"))

import cer  # noqa: E402
import generate_pages  # noqa: E402
from structure import Structure  # noqa: E402

IMAGES = {".png", ".jpg", ".tif"}


def documents(folder):
    """(class, image, truth) of the set, by name."""
    for truth in sorted(folder.glob("*/synthetic/*.json")):
        for suffix in IMAGES:
            image = truth.with_suffix(suffix)
            if image.exists():
                yield truth.parent.parent.name, image, json.loads(truth.read_text())


def read_pages(platen, model, docs, options, work):
    """Text by file name, a page's below the one before."""
    manifest = work / "pages.txt"
    manifest.write_text("".join(f"{image.resolve()}\n" for _, image, _ in docs))
    seconds = cer.cpu_of([platen, "ocr", "--manifest", manifest, "-o", work / "out", "--format", "txt,json", "--quiet",
                          "--model", model, *options])
    results = {path.name[:-5]: json.loads(path.read_text()) for path in (work / "out").rglob("*.json")
               if ".platen" not in path.parts and path.name != "run.json"}
    return {path.name: path.read_text() for path in (work / "out").rglob("*.txt")}, results, seconds


def pieces(line, most):
    """(start, end) of a line as shares of its width, cut between words so that none is wider than `most`."""
    x0, _, x1, _ = line["box"]
    share = lambda x: (x - x0) / max(1, x1 - x0)  # noqa: E731
    words = line["words"]
    gaps = [(share(a["box"][2]) + share(b["box"][0])) / 2 for a, b in zip(words, words[1:])]
    count = max(1, math.ceil(1 / most))
    ends = sorted({min(gaps, key=lambda gap: abs(gap - i / count)) for i in range(1, count)} if gaps else set())
    return list(zip([0, *ends], [*ends, 1]))


def line_crops(image, truth, reading):
    """The crops of each true line, as the model wants them: its height of letters, its baseline."""
    ok, sheets = cv2.imreadmulti(str(image), flags=cv2.IMREAD_GRAYSCALE)
    if not ok:
        raise SystemExit(f"{image}: cannot be read")
    for sheet, page in zip(sheets, truth["pages"]):
        square = np.float32([1, page["dpi"][0] / page["dpi"][1]])  # pixels of some faxes are not
        for line in page["lines"]:
            quad = np.float32(line["quad"])
            flat = quad * square
            unit = reading["x_height"] / line["x_height"]
            width, height = np.linalg.norm(flat[1] - flat[0]) * unit, np.linalg.norm(flat[3] - flat[0]) * unit
            ascent = (line["baseline"] - quad[:2, 1].mean()) * square[1] * unit
            top, margin = reading["baseline"] - ascent, 4
            crops = []
            for start, end in pieces(line, reading["max_width"] / max(width, 1)):
                left = margin - start * width
                target = np.float32([[left, top], [left + width, top], [left + width, top + height],
                                     [left, top + height]])
                m = cv2.getPerspectiveTransform(quad, target)
                size = (max(8, round((end - start) * width) + 2 * margin), reading["line_height"])
                shrunk = cv2.GaussianBlur(sheet, (0, 0), .45 / unit) if unit < .7 else sheet
                crops.append(cv2.warpPerspective(shrunk, m, size, flags=cv2.INTER_CUBIC,
                                                 borderMode=cv2.BORDER_REPLICATE))
            yield crops


def read_true_lines(platen, model, docs, reading, work):
    """Text by file name, of the true lines in the true order."""
    requests = work / "requests.jsonl"
    (work / "lines").mkdir()
    counts = {}
    with requests.open("w") as file:
        for _, image, truth in docs:
            for crops in line_crops(image, truth, reading):
                counts.setdefault(image.name, []).append(len(crops))
                for i, crop in enumerate(crops):
                    name = f"lines/{image.stem}-{len(counts[image.name])}-{i}.png"
                    cv2.imwrite(str(work / name), crop)
                    file.write(json.dumps({"images": [name]}) + "\n")
    subprocess.run([platen, "run", requests, "-o", work / "answers.jsonl", "--model", model], check=False, capture_output=True)
    answers = (json.loads(line).get("text", "") for line in (work / "answers.jsonl").read_text().splitlines())
    texts = {}
    for _, image, truth in docs:
        lines = [line for page in truth["pages"] for line in page["lines"]]
        read = [{**line, "text": " ".join(next(answers) for _ in range(count))}
                for line, count in zip(lines, counts.get(image.name, []))]
        texts[image.name + ".txt"] = generate_pages.page_text(read) if read else ""
    return texts


def read_with_tesseract(docs, work):
    texts = {}
    for _, image, _ in docs:
        base = work / image.name
        cer.cpu_of(["tesseract", image, base, "-l", "eng", "--psm", "3"])
        texts[image.name + ".txt"] = Path(f"{base}.txt").read_text()
    return texts


def judge(docs, systems):
    rows = {}
    for name, image, truth in docs:
        wanted = "\n\n".join(page["text"] for page in truth["pages"])
        row = rows.setdefault(name, {"pages": 0, "empty": not wanted.strip(), "scores": {}})
        row["pages"] += len(truth["pages"])
        for system, texts in systems.items():
            text = texts.get(image.name + ".txt", "")
            score = cer.score(wanted, text)
            score["read"] = len(cer.normalise(text))
            row["scores"].setdefault(system, []).append(score)
    return rows


def mean(scores, key):
    return statistics.fmean(score[key] for score in scores)


def report(rows, systems):
    tesseract = "tesseract" in systems
    print(f"{'class':18}{'pages':>6}{'CER %':>9}{'true lines':>12}{'loss':>8}{'bag %':>8}"
          + (f"{'Tesseract':>11}" if tesseract else ""))
    results, summary = {}, {"cer": [], "loss": [], "tesseract": []}
    for name, row in rows.items():
        found, true = row["scores"]["platen"], row["scores"]["lines"]
        if row["empty"]:
            invented = {system: sum(score["read"] for score in scores) for system, scores in row["scores"].items()}
            print(f"{name:18}{row['pages']:6}   invented: {invented['platen']} characters"
                  + (f" (Tesseract {invented['tesseract']})" if tesseract else ""))
            results[name] = {"pages": row["pages"], "invented": invented}
            continue
        result = {"pages": row["pages"], "cer": mean(found, "cer"), "true_lines": mean(true, "cer"),
                  "bag_wer": mean(found, "bag_wer")}
        result["loss"] = result["cer"] - result["true_lines"]
        line = (f"{name:18}{row['pages']:6}{100 * result['cer']:9.2f}{100 * result['true_lines']:12.2f}"
                f"{100 * result['loss']:8.2f}{100 * result['bag_wer']:8.2f}")
        if tesseract:
            result["tesseract"] = mean(row["scores"]["tesseract"], "cer")
            line += f"{100 * result['tesseract']:11.2f}"
        print(line)
        results[name] = result
        for key in summary:
            summary[key].append(result.get(key, 0))
    print(f"{'mean of classes':18}{'':6}{100 * statistics.fmean(summary['cer']):9.2f}{'':12}"
          f"{100 * statistics.fmean(summary['loss']):8.2f}{'':8}"
          + (f"{100 * statistics.fmean(summary['tesseract']):11.2f}" if tesseract else ""))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--platen", type=Path, required=True)
    parser.add_argument("--set", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=ROOT / "assets" / "platen-mini", help="a model of lines")
    parser.add_argument("--tesseract", action="store_true")
    parser.add_argument("--ocr-options", default="", help="further options of platen ocr, one string")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    docs = list(documents(options.set))
    if not docs:
        raise SystemExit(f"{options.set}: no pages; make some with generate.py")
    reading = json.loads((options.model / "platen.json").read_text())
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        pages, results, seconds = read_pages(options.platen, options.model, docs, options.ocr_options.split(), work)
        systems = {"platen": pages, "lines": read_true_lines(options.platen, options.model, docs, reading, work)}
        if options.tesseract:
            systems["tesseract"] = read_with_tesseract(docs, work)
    seeds = sorted({truth["seed"] for _, _, truth in docs})
    rows = judge(docs, systems)
    sheets = sum(row["pages"] for row in rows.values())
    print(f"seed {', '.join(map(str, seeds))}; {sheets} pages, {seconds / sheets:.2f} core-seconds a page")
    summary = report(rows, systems)
    structure = Structure()
    for _, image, truth in docs:
        for page, found in zip(truth["pages"], results[image.name]["pages"]):
            structure.add(page, found)
    structure.print()
    if options.json:
        options.json.write_text(json.dumps({"seeds": seeds, "classes": summary}, indent=1) + "\n")


if __name__ == "__main__":
    main()
