"""Readers of the formats in which packages carry texts."""

from __future__ import annotations

import bz2
import gzip
import html
import lzma
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path


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


def r_strings(raw: bytes) -> list[str]:
    """The strings of a serialised R object (XDR): flags with type 9, length, UTF-8 bytes."""
    out, at = [], 0
    while (at := raw.find(b"\x09", at)) >= 0:
        flags, start = raw[at - 3 : at], at + 5
        at += 1
        if flags not in (b"\x00\x04\x00", b"\x00\x00\x80", b"\x00\x00\x00"):
            continue
        (length,) = struct.unpack(">i", raw[start - 4 : start])
        if 0 <= length <= len(raw) - start:
            out.append(raw[start : start + length].decode("utf-8", "replace"))
            at = start + length
    return out


def r_data(path: Path) -> list[str]:
    """Strings of an .RData file, whichever way it is compressed."""
    raw = path.read_bytes()
    for start, unpack in (
        (b"\x1f\x8b", gzip.decompress),
        (b"BZ", bz2.decompress),
        (b"\xfd7zXZ", lzma.decompress),
    ):
        if raw.startswith(start):
            return r_strings(unpack(raw))
    return r_strings(raw)


def r_lazy(path: Path) -> list[str]:
    """Strings of an .rdb file: objects of a length and a zlib stream one after the other."""
    raw, out = path.read_bytes(), []
    while len(raw) > 4:
        stream = zlib.decompressobj()
        out += r_strings(stream.decompress(raw[4:]))
        raw = stream.unused_data
    return out


def sword_verses(folder: Path) -> Iterator[str]:
    """Verses of a SWORD zText module, without mark-up."""
    for part in ("ot", "nt"):
        blocks, verses, data = (
            (folder / f"{part}.{kind}").read_bytes() for kind in ("bzs", "bzv", "bzz")
        )
        texts = [
            zlib.decompress(data[offset : offset + size])
            for offset, size, _ in struct.iter_unpack("<III", blocks)
        ]
        for block, start, size in struct.iter_unpack("<IIH", verses):
            if size and block < len(texts):
                yield strip_osis(texts[block][start : start + size].decode("utf-8", "replace"))


def strip_osis(text: str) -> str:
    """OSIS to plain text; notes and titles go."""
    text = re.sub(r"(?s)<(note|title)\b.*?</\1>", " ", text)
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def go_comments(folder: Path) -> Iterator[str]:
    """Runs of ``//`` comment lines of Go sources, those of other projects (vendor) left out."""
    paths = (p for p in folder.rglob("*.go") if p.is_file() and "vendor" not in p.parts)
    for path in sorted(paths):
        run: list[str] = []
        for line in [*read_any(path).splitlines(), ""]:
            match = re.match(r"\s*//( (?P<text>.*))?$", line)
            if match:
                run.append(match["text"] or "")
            elif run:
                yield "\n".join(run)
                run = []


def wordnet_entries(text: str) -> Iterator[str]:
    """Definitions and examples of the dictd form of WordNet."""
    for entry in re.split(r"\n(?=\S)", text):
        for sense in re.split(r"\n\s+(?:[a-z]+ )?\d*: ", " ".join(entry.split("\n", 1)[1:])):
            sense = re.sub(r"^\s*[a-z]+ 1: |\[(syn|ant|also): [^]]*\]|[{}]", "", sense)
            yield sense


def plain_rst(text: str) -> str:
    """reStructuredText without directives, roles and literal marks."""
    text = re.sub(r":[a-z:]+:`~?([^`<]*)(?: <[^`]*>)?`", r"\1", text)
    lines = [line for line in text.splitlines() if not re.match(r"\s*\.\. |[*=~^\"-]{4,}$", line)]
    return "\n".join(lines).replace("``", "").replace("*", "").replace("`", "'")
