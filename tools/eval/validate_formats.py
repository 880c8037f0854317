#!/usr/bin/env python3
"""Checks .hocr, .tsv, .alto.xml, .page.xml and .pdf files with validators that are not platen's.

    tools/eval/validate_formats.py OUT

Of every file below OUT: XML is well formed, identifiers are unique, and all places are whole pixels inside the page,
with Python alone. Beyond that, as far as it is installed, and said otherwise:

    ALTO   xmllint (Debian package libxml2-utils) and tests/data/schemas
    PAGE   xmllint and the schema of the PyPI package ocrd, or the file that PLATEN_PAGE_XSD names
    hOCR   hocr-spec (PyPI)
    PDF    qpdf --check; for PDF/A-2b pikepdf[pdfa] (PyPI), veraPDF, and Preflight of Apache PDFBox, which knows PDF/A-1b:
           what only PDF/A-2 allows is no complaint. pdfa_validators.py says what the last two need

Files that are given as they came in are not ours to judge: of a PDF's .pdf only what qpdf says counts.

Exit code 1: something is wrong, or nothing was checked.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pdfa_validators

SCHEMAS = Path(__file__).resolve().parents[2] / "tests" / "data" / "schemas"
TSV_HEADER = "level page_num block_num par_num line_num word_num left top width height conf text".split()


def local(element):
    return element.tag.rsplit("}", 1)[-1]


def check_ids(root):
    seen = set()
    for element in root.iter():
        for name in ("id", "ID"):
            value = element.get(name)
            if value is None:
                continue
            if value in seen:
                yield f"identifier {value} stands twice"
            seen.add(value)


def inside(points, width, height):
    return all(0 <= x <= width and 0 <= y <= height for x, y in points)


def pairs(numbers):
    values = [int(number) for number in numbers]
    return list(zip(values[::2], values[1::2]))


def check_hocr(root):
    width = height = 0
    for element in root.iter():
        title = element.get("title")
        if title is None:
            continue
        for name, value in re.findall(r"\b(bbox|poly|x_wconf)((?: -?[\d.]+)+)", title):
            if name == "x_wconf":
                if not 0 <= int(value) <= 100:
                    yield f"{title}: x_wconf"
                continue
            points = pairs(value.split())
            if element.get("class") == "ocr_page":
                (_, _), (width, height) = points
            elif not inside(points, width, height):
                yield f"{title}: outside of the page"
            elif name == "bbox" and width and not (points[0][0] < points[1][0] and points[0][1] < points[1][1]):
                yield f"{title}: an empty box"


def check_alto(root):
    page = next(element for element in root.iter() if local(element) == "Page")
    width, height = int(page.get("WIDTH")), int(page.get("HEIGHT"))
    for element in root.iter():
        if element.get("HPOS") is not None and element.get("HEIGHT") is not None:
            x, y, w, h = (int(element.get(key)) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
            if not inside([(x, y), (x + w, y + h)], width, height):
                yield f"{element.attrib}: outside of the page"
        for key in ("POINTS", "BASELINE"):
            if element.get(key) and not inside(pairs(re.split("[ ,]", element.get(key))), width, height):
                yield f"{element.attrib}: outside of the page"


def check_page(root):
    page = next(element for element in root.iter() if local(element) == "Page")
    width, height = int(page.get("imageWidth")), int(page.get("imageHeight"))
    for element in root.iter():
        if element.get("points") and not inside(pairs(re.split("[ ,]", element.get("points"))), width, height):
            yield f"{element.attrib}: outside of the page"


def check_tsv(text):
    lines = text.split("\n")
    if lines[0].split("\t") != TSV_HEADER or lines[-1] != "":
        yield "not the columns of Tesseract"
    width = height = 0
    for number, line in enumerate(lines[1:-1], 2):
        columns = line.split("\t")
        if len(columns) != len(TSV_HEADER):
            yield f"line {number}: {len(columns)} columns"
            continue
        level, x, y, w, h = (int(columns[i]) for i in (0, 6, 7, 8, 9))
        if level == 1:
            width, height = w, h
        elif not inside([(x, y), (x + w, y + h)], width, height):
            yield f"line {number}: outside of the page"
        if (level == 5) != (columns[10] != "-1") or (level == 5) != (columns[11] != ""):
            yield f"line {number}: words, and only words, have a text and its confidence"


def page_schema():
    if os.environ.get("PLATEN_PAGE_XSD"):
        return Path(os.environ["PLATEN_PAGE_XSD"])
    spec = importlib.util.find_spec("ocrd_validators")
    return Path(spec.origin).parent / "page.xsd" if spec else None


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, errors="backslashreplace")
    text = (result.stdout + result.stderr).strip()
    return [] if result.returncode == 0 else [line[:300] for line in text.splitlines()[:5]] or [f"{command[0]} failed"]


def pdf_validator():
    qpdf = shutil.which("qpdf")
    has_pikepdf = importlib.util.find_spec("pikepdf") and importlib.util.find_spec("fontTools")
    others = {"veraPDF": pdfa_validators.verapdf(), "Preflight": pdfa_validators.preflight()}
    if not has_pikepdf:
        print("pdf: not checked as PDF/A by pikepdf: pikepdf[pdfa] (PyPI) is not installed")
    for name in (name for name, validator in others.items() if not validator):
        print(f"pdf: not checked as PDF/A by {name}: what it needs (pdfa_validators.py) is not installed")
    if not qpdf and not has_pikepdf:
        return "neither qpdf nor pikepdf is installed"

    def check(path):
        found = run([qpdf, "--check", str(path)]) if qpdf else []
        if path.name.lower().endswith(".pdf.pdf"):
            return found
        if has_pikepdf:
            import pikepdf
            from pikepdf import pdfa
            with pikepdf.open(path) as document:
                found += [str(finding) for finding in pdfa.check(document, "2b").findings]
        return found + [complaint for validator in others.values() if validator for complaint in validator(path)]

    return check


def outside_validators(folder):
    """By kind: a function from a file to complaints, or the reason why there is none."""
    xmllint = shutil.which("xmllint")
    hocr = shutil.which("hocr-spec") or shutil.which("hocr-spec", path=str(Path(sys.executable).parent))
    alto_xsd = Path(folder) / "alto.xsd"
    text = (SCHEMAS / "alto-4-4.xsd").read_text(encoding="utf-8")
    alto_xsd.write_text(text.replace("http://www.loc.gov/standards/xlink/xlink.xsd", (SCHEMAS / "xlink.xsd").as_uri()),
                        encoding="utf-8")
    page_xsd = page_schema()

    def by_schema(schema):
        return lambda path: run([xmllint, "--nonet", "--noout", "--schema", str(schema), str(path)])

    return {
        "alto": by_schema(alto_xsd) if xmllint else "xmllint is not installed",
        "page": by_schema(page_xsd) if xmllint and page_xsd else "xmllint or the schema (PyPI: ocrd) is not installed",
        "hocr": (lambda path: run([hocr, str(path)])) if hocr else "hocr-spec (PyPI) is not installed",
        "pdf": pdf_validator(),
    }


def plainly_named(path, folder):
    """A link to the file with a name that any program takes: names are bytes, and may have line breaks."""
    link = Path(folder) / ("checked" + re.search(r"(\.pdf)?\.[a-z]+$", path.name.lower()).group())
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.abspath(path))
    return link


def complaints(path, kind):
    try:
        if kind == "pdf":
            return [] if path.read_bytes().startswith(b"%PDF-") else ["no PDF"]
        if kind == "tsv":
            return list(check_tsv(path.read_bytes().decode("utf-8")))
        root = ElementTree.parse(path).getroot()
        check = {"hocr": check_hocr, "alto": check_alto, "page": check_page}[kind]
        return list(check_ids(root)) + list(check(root))
    except (ElementTree.ParseError, ValueError, StopIteration) as error:
        return [f"{type(error).__name__}: {error}"]


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    out, bad, checked = Path(sys.argv[1]), 0, 0
    kinds = {".hocr": "hocr", ".tsv": "tsv", ".alto.xml": "alto", ".page.xml": "page", ".pdf": "pdf"}
    with tempfile.TemporaryDirectory() as folder:
        validators = outside_validators(folder)
        for path in sorted(path for path in out.rglob("*") if path.is_file() and ".platen" not in path.parts):
            kind = next((kind for ending, kind in kinds.items() if path.name.endswith(ending)), None)
            if kind is None:
                continue
            checked += 1
            found = complaints(path, kind)
            if callable(validators.get(kind)):
                found += validators[kind](plainly_named(path, folder))
            bad += len(found)
            for complaint in found:
                print(f"{os.fsencode(path).decode(errors='backslashreplace')}: {complaint}")
        for kind, validator in validators.items():
            if not callable(validator):
                print(f"{kind}: not given to a validator of its own: {validator}")
    print(f"{checked} checked, {bad} errors")
    raise SystemExit(bad > 0 or checked == 0)


if __name__ == "__main__":
    main()
