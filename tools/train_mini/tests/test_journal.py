"""Lines of worn serif prose."""

import json
from pathlib import Path

import numpy as np
import pytest

import journal
from journal import JOURNAL, journal_lines

PROSE = "Honesty is the best policy, said the archivist. " * 8


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """Draws lines in a face of Pillow's own, listed as a serif one and as a sans one."""
    from PIL import ImageFont

    face = lambda _path, size, _rough=False: ImageFont.load_default(size)  # noqa: E731
    monkeypatch.setattr("render.load_face", face)
    fonts = [
        {"path": family, "index": 0, "family": family, "chars": chars, "weight": 1.0,
         "ascent": 0.8, "descent": 0.2}
        for family, chars in (("Caladea", PROSE), ("OpenSans", PROSE))
    ]  # fmt: skip
    (tmp_path / "fonts.json").write_text(json.dumps(fonts))
    (tmp_path / "corpus.json").write_text(json.dumps({"devil": [PROSE.strip()]}))

    def draw(count: int, seed: int):
        return journal_lines(tmp_path / "corpus.json", tmp_path / "fonts.json", Path(), count, seed)

    return draw


def test_lines_are_prose_and_a_function_of_the_seed(lines):
    first, again, other = lines(6, 1), lines(6, 1), lines(6, 2)
    assert [line.text for line in first] == [line.text for line in again]
    assert all(np.array_equal(a.image, b.image) for a, b in zip(first, again))
    assert [line.text for line in first] != [line.text for line in other]
    for line in first:
        assert line.text in PROSE and line.family == JOURNAL and line.degraded
        assert line.image.shape[0] == 28


def test_only_serif_faces_are_drawn(lines, monkeypatch):
    drawn = []
    pick = journal.JournalRenderer.pick_font
    monkeypatch.setattr(
        journal.JournalRenderer, "pick_font",
        lambda self, text: drawn.append(pick(self, text)) or drawn[-1],
    )  # fmt: skip
    lines(6, 3)
    assert {font.family for font in drawn if font} == {"Caladea"}


def test_illegible_lines_are_left_out(lines, monkeypatch):
    seen = []

    def judge(_page, _ink):
        seen.append(0.1 if len(seen) % 2 else 0.9)
        return seen[-1]

    monkeypatch.setattr(journal, "legibility", judge)
    assert len(lines(4, 4)) == 4
    assert sum(share > 0.4 for share in seen) == 4 and len(seen) > 4
