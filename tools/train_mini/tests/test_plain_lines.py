"""The easy lines of the tiny model."""

import json
import random

from charset import ALPHABET
from fonts import FontFile
from plain_lines import WORDS, plain_text
from render import Renderer


def test_texts_are_words_and_numbers():
    texts = [plain_text(random.Random(seed)) for seed in range(300)]
    items = [text.split(" ") for text in texts]
    assert {len(i) for i in items} == {1, 2, 3}
    assert all(i in WORDS or str(int(i)) == i for row in items for i in row)
    assert set("".join(texts)) <= set(ALPHABET)
    assert set("".join(WORDS)) == set("abcdefghijklmnopqrstuvwxyz")


def test_only_the_faces_asked_for_are_drawn(tmp_path):
    fonts = [FontFile(f"fonts/{n}.ttf", n, 1.0, "abc", 0.75, 0.22) for n in ("A", "B", "C")]
    (tmp_path / "fonts.json").write_text(json.dumps([f.__dict__ for f in fonts]))
    renderer = Renderer(tmp_path, tmp_path / "fonts.json", False, 3)
    renderer.keep_faces(["B.ttf", "C.ttf"])
    assert {renderer.pick_font("abc").family for _ in range(40)} == {"B", "C"}
    renderer.keep_faces(["C.ttf"])
    assert {renderer.pick_font("abc").family for _ in range(9)} == {"C"}
    assert renderer.pick_font("z") is None
