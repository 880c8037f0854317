"""Reads scans with the program platen and gives what it read as objects.

    import platen

    for document in platen.read(["scans"], formats=["json", "hocr"], out="text"):
        for page in document.pages:
            print(page.number, page.text)

Needs Python 3.9 and nothing else. The program is found on the search path, in the variable PLATEN_PROGRAM, or
named with `program`. Objects mirror the .json (docs/schema/page-result.schema.json); `raw` has all of it.
"""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, Sequence

__all__ = ["Document", "Line", "Page", "PlatenError", "Region", "Word", "export", "load", "read"]

DONE, SOME_FAILED = 0, 1  # exit codes after which there are results


class PlatenError(RuntimeError):
    """platen did not run to its end. `exit_code`: 2 wrong options, 3 model, disk or memory, 130 interrupted."""

    def __init__(self, exit_code: int, message: str):
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Word:
    text: str
    quad: list  # four points, x and y in pixels of the upright page
    confidence: float


@dataclass(frozen=True)
class Line:
    text: str
    box: list  # x0, y0, x1, y1
    quad: list
    confidence: float | None  # mean of its tokens; None: nothing was generated
    words: list[Word] = field(default_factory=list)
    from_text_layer: bool = False  # a PDF page's own text, with the places of its words as the page says them


@dataclass(frozen=True)
class Region:
    kind: str  # "text", "title", "table", "figure", ...
    text: str
    box: list
    lines: list[Line]
    table: dict | None  # rows, columns, cells
    error: str | None


@dataclass(frozen=True)
class Page:
    number: int
    width: int
    height: int
    regions: list[Region]  # in reading order
    doubts: list[dict]  # why it may not hold what stands on the page
    error: str | None  # not None: the page could not be read
    from_text_layer: bool = False  # text of a PDF page's own is in it
    raw: dict = field(repr=False, default_factory=dict)

    @property
    def text(self) -> str:
        return "\n\n".join(region.text for region in self.regions if region.text)


@dataclass(frozen=True)
class Document:
    source: str  # the input, relative to the tree that the outputs mirror
    sha256: str | None
    pages: list[Page]
    path: Path  # of its .json
    raw: dict = field(repr=False, default_factory=dict)

    def output(self, format: str) -> Path:
        """Where its output of another format is: document.output("hocr")."""
        return self.path.with_name(self.path.name[: -len("json")] + format)


def _mean(reading: dict) -> float | None:
    return reading["confidence"]["mean"] if "confidence" in reading else None


def _line(line: dict) -> Line:
    words = [Word(word["text"], word["quad"], word["confidence"]) for word in line.get("words", [])]
    return Line(line["text"], line["box"], line["quad"], _mean(line), words, line.get("word_boxes") == "text_layer")


def _region(region: dict) -> Region:
    return Region(region["label"], region["text"], region["box"], [_line(line) for line in region["lines"]],
                  region.get("table"), region.get("error"))


def _page(page: dict) -> Page:
    return Page(page["page"], page["width"], page["height"], [_region(region) for region in page["regions"]],
                page.get("doubts", []), page.get("error"), page.get("text_source") == "text_layer", page)


def load(path: str | os.PathLike) -> Document:
    """A document's .json as `platen ocr` has written it."""
    path = Path(path)
    raw = json.loads(path.read_text(encoding="utf-8"))
    return Document(raw["source"], raw.get("source_sha256"), [_page(page) for page in raw["pages"]], path, raw)


def _program(program: str | None) -> str:
    name = program or os.environ.get("PLATEN_PROGRAM", "platen")
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"the program {name} was not found; install platen or set PLATEN_PROGRAM")
    return found


def _run(command: Sequence[str]) -> None:
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    if run.returncode not in (DONE, SOME_FAILED):
        raise PlatenError(run.returncode, run.stderr.strip() or f"platen ended with exit code {run.returncode}")


def _is_result(path: Path) -> bool:
    """Not a file of somebody else's that lies in the output folder."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(raw, dict) and "source" in raw and "pages" in raw


def _documents(out: Path) -> Iterator[Document]:
    for path in sorted(out.rglob("*.json")):
        inside = path.relative_to(out)
        if inside.parts[0] != ".platen" and inside != Path("run.json") and _is_result(path):
            yield load(path)


def _listed(items: Sequence | str | bytes | os.PathLike) -> list:
    """One name is a list of one, and not of its letters: "/tmp" would begin with the whole file system."""
    return [items] if isinstance(items, (str, bytes, os.PathLike)) else list(items)


def read(inputs: Sequence[str | os.PathLike] | str | os.PathLike, out: str | os.PathLike | None = None, *, formats: Sequence[str] = ("json",),
         text_layer: str | None = None, options: Sequence[str] = (), program: str | None = None) -> list[Document]:
    """Reads files, folders and patterns, or one of them, and returns every document of the output folder, by path.

    `out`: the output folder; what earlier calls have read there is not read again. None: a temporary one, so that only
    the objects remain. `text_layer`: "auto" (platen's default), "use" or "ignore" the text that PDF pages have
    themselves. `options`: more words for `platen ocr`, such as ["--model", "zai-org/GLM-OCR"]. Pages and documents
    that could not be read have an `error`. Raises PlatenError if platen could not do its work.
    """
    wanted = list(dict.fromkeys([*_listed(formats), "json"]))
    with tempfile.TemporaryDirectory(prefix="platen-") as temporary:
        folder = Path(temporary if out is None else out)
        layer = [] if text_layer is None else ["--text-layer", text_layer]
        _run([_program(program), "ocr", "-o", str(folder), "--format", ",".join(wanted), "--quiet", *layer, *options,
              "--", *(os.fspath(item) for item in _listed(inputs))])
        return list(_documents(folder))


def export(out: str | os.PathLike, formats: Sequence[str], *, options: Sequence[str] = (),
           program: str | None = None) -> None:
    """Writes what was read into `out` in other formats; nothing is read again."""
    _run([_program(program), "export", "--format", ",".join(_listed(formats)), *options, "--", os.fspath(out)])
