"""Readers of the packages' formats, and what is made of CLDR and Faker."""

import gzip
import struct
import zlib

import locales
import sources
from charset import CENTRAL
from corpus import normalise


def r_object(*texts: str) -> bytes:
    """A serialised character vector, as R writes it."""
    strings = b""
    for text in texts:
        raw = text.encode()
        flags = b"\x00\x04\x00\x09" if text.isascii() else b"\x00\x00\x80\x09"
        strings += flags + struct.pack(">i", len(raw)) + raw
    return b"X\n\x00\x00\x00\x02" + b"\x00\x00\x00\x10" + struct.pack(">i", len(texts)) + strings


def test_strings_of_r_data_are_found_whatever_bytes_they_hold(tmp_path):
    texts = ["It is a\ttruth", "", "naïve", "a\x00\x04\x00\x09\x00\x00\x00\x01bc", "end"]
    (tmp_path / "a.RData").write_bytes(gzip.compress(r_object(*texts)))
    assert sources.r_data(tmp_path / "a.RData") == texts
    parts = [r_object("one", "two"), r_object("three")]
    raw = b"".join(struct.pack(">I", len(p)) + zlib.compress(p) for p in parts)
    (tmp_path / "a.rdb").write_bytes(raw)
    assert sources.r_lazy(tmp_path / "a.rdb") == ["one", "two", "three"]


def test_verses_are_cut_and_stripped(tmp_path):
    block = b'<w>In the</w> beginning<note n="1">a <i>note</i></note>, &amp; so on.More.'
    packed = zlib.compress(block)
    first = len(block) - len(b"More.")
    for part in ("ot", "nt"):
        (tmp_path / f"{part}.bzz").write_bytes(packed)
        (tmp_path / f"{part}.bzs").write_bytes(struct.pack("<III", 0, len(packed), len(block)))
        verses = struct.pack("<IIH", 0, 0, first) + struct.pack("<IIH", 0, first, 5)
        (tmp_path / f"{part}.bzv").write_bytes(verses + struct.pack("<IIH", 0, 0, 0))
    verses = [" ".join(v.split()) for v in sources.sword_verses(tmp_path)]
    assert verses == ["In the beginning , & so on.", "More."] * 2


def test_go_comments_are_runs_of_lines(tmp_path):
    (tmp_path / "a.go").write_text(
        "// One\n// and two.\npackage a\n\tx := 1 // not this\n\t// Three.\n//\n// Four.\n"
    )
    (tmp_path / "b.go").mkdir()
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "c.go").write_text("// Of others.\n")
    assert list(sources.go_comments(tmp_path)) == ["One\nand two.", "Three.\n\nFour."]


def test_wordnet_gives_definitions_without_references():
    text = (
        "head\n\ncentre\n    n 1: a point in it [syn: {center},\n       {middle}]\n    2: a place"
    )
    entries = [" ".join(e.split()) for e in sources.wordnet_entries(text)]
    assert [e for e in entries if e] == ["a point in it", "a place"]


def test_phrases_hold_the_letters_of_their_languages(tmp_path, monkeypatch):
    monkeypatch.setattr(locales, "r_data", lambda path: [path.stem])
    for language, letters in {
        "pl": "ąćęłńóśźż",
        "cs": "čďěňřšťůž",
        "hu": "őű",
        "ro": "ăâîșț",
        "tr": "ğış",
        "lv": "āčēģīķļņšūž",
    }.items():
        found = "".join(normalise(p) for p in locales.phrases(language, tmp_path))
        assert set(letters) <= set(found), language


def test_romanian_has_commas_below_and_turkish_cedillas(tmp_path, monkeypatch):
    monkeypatch.setattr(locales, "r_data", lambda path: ["paşte ţara"])
    assert "paște țara" in locales.phrases("ro", tmp_path)
    assert "paşte ţara" in locales.phrases("tr", tmp_path)
    assert set("șțş") <= set(CENTRAL) and "ţ" not in CENTRAL


def test_phrases_have_no_templates_and_no_doubles(tmp_path, monkeypatch):
    monkeypatch.setattr(locales, "r_data", lambda path: ["Wort", "Wort", "{{name}}", "7"])
    found = locales.phrases("de", tmp_path)
    assert len(found) == len(set(found)) and found.count("Wort") == 1 and "7" not in found
    assert not any("{{" in p and p != "{{name}}" for p in found)
