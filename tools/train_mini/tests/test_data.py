"""Corpus cleaning, text generation, rendering geometry and shards."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

import marks
import wear
from chance import Dice
from charset import CENTRAL, CHARSET, LATIN, TYPOGRAPHIC
from corpus import normalise, paragraphs
from damage import clean_print, scan, warp
from fonts import FontFile
from render import (
    BASELINE,
    HEIGHT,
    X_HEIGHT,
    Line,
    Placement,
    Renderer,
    capitals,
    legibility,
    letters_may_spread,
    to_line_height,
)
from shards import read_shard, write_shard
from text import TextSource


@pytest.fixture
def corpus(tmp_path) -> Path:
    path = tmp_path / "corpus.json"
    path.write_text(
        json.dumps(
            {
                "words_en": ["alpha", "beta"],
                "fortunes": ["The quick brown fox jumps over the lazy dog. " * 5],
            }
        )
    )
    return path


@pytest.fixture
def source(corpus) -> TextSource:
    return TextSource(corpus, 7)


class StubFace:
    """Answers what ``Renderer.x_height`` and ``Renderer.spread`` ask."""

    def getbbox(self, text: str, anchor: str) -> tuple[int, int, int, int]:
        return (0, -100, 90, 0)

    def getlength(self, text: str) -> float:
        return 10.0 * len(text)


@pytest.fixture
def renderer(tmp_path, monkeypatch) -> Renderer:
    font = FontFile("stub.ttf", "Stub", 1.0, "abc", 0.75, 0.22)
    path = tmp_path / "fonts.json"
    path.write_text(json.dumps([font.__dict__]))
    monkeypatch.setattr("render.load_face", lambda *_: StubFace())
    return Renderer(tmp_path, path, False, 3)


def test_text_has_only_known_characters_and_one_blank_between_words(source):
    for _ in range(300):
        line = source.line()
        assert line and len(line) <= 76
        assert set(line) <= CHARSET
        assert line == " ".join(line.split())


def test_text_is_a_function_of_the_seed(source):
    source.rng.seed(5)
    first = [source.line() for _ in range(20)]
    source.rng.seed(5)
    assert [source.line() for _ in range(20)] == first


def test_normalise_maps_look_alikes_and_drops_unknown_words():
    assert (
        normalise("non\u2011breaking  ``quoted'' \u4e2d\u6587 e\u0301t\u00e9")
        == "non-breaking “quoted” été"
    )


def test_hyphenated_words_are_joined():
    assert paragraphs("A long para-\ngraph of some words here.\n\nshort") == [
        "A long paragraph of some words here."
    ]


def test_crops_follow_the_x_height_of_the_font(renderer):
    frames = np.array([renderer.frame(renderer.fonts[0], 40) for _ in range(2000)])
    x_heights = 40 * 0.5 * HEIGHT / frames[:, 0]
    baselines = frames[:, 1] * HEIGHT / frames[:, 0]
    assert abs(np.median(x_heights) - X_HEIGHT) < 0.3
    assert 0.6 * X_HEIGHT < x_heights.min() and x_heights.max() < 1.3 * X_HEIGHT
    assert abs(np.median(baselines) - BASELINE) < 0.2
    assert abs(baselines - BASELINE).max() <= 3.0


def test_a_long_ascender_is_not_cut_off(renderer):
    tall = FontFile("stub.ttf", "Stub", 1.0, "abc", 1.1, 0.22)
    for _ in range(500):
        height, baseline = renderer.frame(tall, 40)
        assert 1.1 * 40 - baseline <= 0.71 * height / HEIGHT


@pytest.mark.parametrize("stretch", [False, True])
def test_widths_are_multiples_of_the_height(stretch):
    for width in (1, 60, 100, 333):
        line = to_line_height(np.zeros((50, width), np.uint8), Image.Resampling.BICUBIC, stretch)
        assert line.shape[0] == HEIGHT and line.shape[1] % HEIGHT == 0


def test_padding_keeps_the_shape_of_letters_and_the_tone_of_paper():
    page = np.full((28, 70), 200, np.uint8)
    page[5:20, 10:60] = 0
    line = to_line_height(page, Image.Resampling.BICUBIC, stretch=False)
    assert line.shape[1] == 84
    assert (line[10] < 100).sum() == 50
    assert (line[:, :7] == 200).all() and (line[:, -7:] == 200).all()


def test_evaluation_crops_have_only_the_usual_errors(renderer):
    renderer.usual_crops = True
    frames = np.array([renderer.frame(renderer.fonts[0], 40) for _ in range(1000)])
    x_heights = 40 * 0.5 * HEIGHT / frames[:, 0]
    assert x_heights.min() >= 0.879 * X_HEIGHT and x_heights.max() <= 1.131 * X_HEIGHT
    assert abs(frames[:, 1] * HEIGHT / frames[:, 0] - BASELINE).max() <= 1.501


def test_damage_is_a_function_of_the_seed():
    ink = Image.new("L", (120, 40), 0)
    ink.paste(255, (20, 10, 60, 30))
    for seed in range(20):
        a, b = (scan(warp(ink, 26.0, dice), 26.0, dice) for dice in (Dice(seed), Dice(seed)))
        assert a.dtype == np.uint8 and np.array_equal(a, b)


def test_clean_print_is_dark_on_light():
    ink = Image.new("L", (20, 10), 0)
    ink.paste(255, (5, 2, 15, 8))
    page = clean_print(ink, Dice(1))
    assert page[5, 10] < 60 and page[0, 0] > 230


def test_shards_keep_images_and_texts(tmp_path):
    images = [np.full((28, w), w, np.uint8) for w in (28, 56)]
    lines = [Line(t, i, i, "F", False) for t, i in zip(("é one", "two"), images)]
    write_shard(tmp_path / "shard-001-00000.npz", lines)
    back = read_shard(tmp_path / "shard-001-00000.npz")
    assert [t for _, t in back] == ["é one", "two"]
    assert all(np.array_equal(a, b) for (a, _), b in zip(back, images))
    assert list(Path(tmp_path).glob("*.tmp*")) == []


def test_hard_text_is_longer_and_has_more_marks_but_the_same_characters(source, corpus):
    hard = TextSource(corpus, 7, hard=True)
    plain, harder = ([s.line() for _ in range(600)] for s in (source, hard))
    assert sum(map(len, harder)) > 1.1 * sum(map(len, plain))
    marks = [sum(c in ',;:?!“”"' for line in lines for c in line) for lines in (plain, harder)]
    assert marks[1] > 1.3 * marks[0]
    assert all(set(line) <= CHARSET and len(line) <= 76 for line in harder)


def test_quotes_of_hard_text_close_after_they_open(source):
    for _ in range(200):
        text = source.punctuate("one two three four five six seven eight nine ten")
        assert sum(text.count(c) for c in "”)") <= sum(text.count(c) for c in "“(")


def test_look_alike_codes_hold_letters_digits_and_separators_only(source):
    codes = [source.look_alike() for _ in range(200)]
    assert all(set(code) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZl0123456789 -/.") for code in codes)
    assert len(set(codes)) > 100


def test_rare_text_holds_accents_and_marks_that_no_word_calls_for(source):
    lines = [source.rare("The quick brown fox jumps over the lazy dog") for _ in range(2000)]
    assert all(set(line) <= CHARSET for line in lines)
    assert set(LATIN + CENTRAL) <= set("".join(lines))
    accented = [line for line in lines if len(line) == 43 and set(line) & set(LATIN)]
    assert len(accented) > 400


@pytest.fixture
def ink() -> Image.Image:
    """Eight upright strokes, like the letters of a line of 40 px type."""
    image = Image.new("L", (240, 56), 0)
    for x in range(20, 220, 25):
        image.paste(255, (x, 12, x + 6, 44))
    return image


def test_squeezed_letters_stay_wide_enough_for_the_ctc_heads(ink):
    dice = Dice(4)
    widths = [wear.squeeze(ink, 8, dice).width for _ in range(200)]
    assert min(widths) < 0.7 * ink.width and max(widths) > 1.1 * ink.width
    crowded = [wear.squeeze(ink, 20, dice).width * 28 / 56 / 20 for _ in range(200)]
    assert min(crowded) >= 5.5


def test_broken_letters_lose_some_ink_but_not_all(ink):
    before = np.asarray(ink, np.float64).sum()
    left = [
        np.asarray(wear.break_letters(ink, 40.0, Dice(s)), np.float64).sum() / before
        for s in range(40)
    ]
    assert 0.4 < min(left) and max(left) < 1.0


@pytest.mark.parametrize("name", ["bleed_through", "bad_light"])
def test_worn_scans_keep_letters_darker_than_the_paper_beside_them(ink, name):
    page = clean_print(ink, Dice(1))
    for seed in range(20):
        extra = (ink,) if name == "bleed_through" else ()
        worn = getattr(wear, name)(page, *extra, 40.0, Dice(seed))
        assert worn.shape == page.shape and worn.dtype == np.uint8
        assert not np.array_equal(worn, page)
        assert worn[28, 23] + 20 < worn[28, 34]


def test_a_fax_is_black_and_white_and_keeps_the_strokes(ink):
    page = clean_print(ink, Dice(1))
    for seed in range(20):
        copy = wear.fax(page, 40.0, Dice(seed))
        assert copy.shape == page.shape and set(np.unique(copy)) == {0, 255}
        assert (copy[28, 20:26] == 0).any() and copy[28, 32:38].all()


def test_wear_is_a_function_of_the_seed(ink):
    page = clean_print(ink, Dice(1))
    for seed in range(30):
        runs = [
            wear.wear_scan(page, wear.wear_ink(ink, 40.0, dice), 40.0, dice)
            for dice in (Dice(seed), Dice(seed))
        ]
        assert np.array_equal(*runs)


def test_only_training_lines_are_worn(renderer, ink, monkeypatch):
    def refuse(*_):
        raise AssertionError("an evaluation line was worn")

    monkeypatch.setattr("wear.wear_scan", refuse)
    renderer.usual_crops = True
    assert renderer.scan(ink, 40.0).dtype == np.uint8
    renderer.usual_crops = False
    with pytest.raises(AssertionError):
        renderer.scan(ink, 40.0)


def legible_pair(kept: float) -> tuple[np.ndarray, Image.Image]:
    """Strokes, of which a scan shows the upper share ``kept``."""
    ink = Image.new("L", (200, 56), 0)
    for x in range(10, 190, 20):
        ink.paste(255, (x, 12, x + 6, 44))
    page = 255 - np.asarray(ink)
    page[12 + round(32 * kept) : 44] = 255
    return page, ink


def test_legibility_is_the_share_of_print_that_shows():
    for kept in (1.0, 0.75, 0.5):
        page, ink = legible_pair(kept)
        assert abs(legibility(page, ink) - kept) < 0.12
        assert abs(legibility(255 - page, ink) - kept) < 0.12


def test_shadows_do_not_make_print_illegible():
    page, ink = legible_pair(1.0)
    shade = np.linspace(0.5, 1, 200)[None, :]
    assert legibility((page * shade).astype(np.uint8), ink) > 0.7


def test_leaders_are_drawn_longer_than_they_are_read(renderer):
    printed = {renderer.leader("Preface ... vii") for _ in range(100)}
    assert min(map(len, printed)) > len("Preface ... vii")
    assert all(p.startswith(("Preface .", "Preface.")) and p.endswith(". vii") for p in printed)
    assert any(". . ." in p for p in printed) and any("...." in p for p in printed)
    assert renderer.leader("and so on... he said") == "and so on... he said"
    assert all(len(renderer.leader(text)) > len(text) for text in ("Preface ...", "... 21"))


def test_small_capitals_are_for_lines_of_capitals():
    assert capitals("JOHN SMITH, 1900") and not capitals("JOHN Smith")
    assert not capitals("1900") and not capitals("A")


def test_a_check_box_stands_in_the_margin_only(renderer):
    place = Placement(40.0, 100.0, 10.0, 60.0, 44.0, [], [])
    for seed in range(20):
        renderer.dice = Dice(seed)
        canvas = Image.new("L", (150, 60), 0)
        renderer.draw_check_box(ImageDraw.Draw(canvas), 32, place)
        box = canvas.getbbox()
        assert box and box[0] >= 0 and box[2] <= 40
        assert box[3] - box[1] >= 14
    narrow = Placement(8.0, 100.0, 10.0, 60.0, 44.0, [], [])
    canvas = Image.new("L", (150, 60), 0)
    renderer.draw_check_box(ImageDraw.Draw(canvas), 32, narrow)
    assert canvas.getbbox() is None


def test_evaluation_lines_have_the_characters_that_they_always_had(source):
    text = "".join(source.line() + source.symbols() for _ in range(400))
    assert not set(text) & set(CENTRAL)
    assert set(text) & set(TYPOGRAPHIC)


@pytest.mark.parametrize("name", ["rule", "stamp", "shadow", "curl"])
def test_marks_are_a_function_of_the_seed_and_keep_the_shape(ink, name):
    page = clean_print(ink, Dice(1))
    changed = 0
    for seed in range(30):
        a, b = (getattr(marks, name)(page, 40.0, Dice(seed)) for _ in range(2))
        assert a.shape == page.shape and a.dtype == np.uint8 and np.array_equal(a, b)
        changed += not np.array_equal(a, page)
    assert changed >= 15


@pytest.mark.parametrize("name", ["rule", "stamp"])
def test_lines_over_print_never_lighten_it(ink, name):
    page = clean_print(ink, Dice(1))
    for seed in range(30):
        assert (getattr(marks, name)(page, 40.0, Dice(seed)) <= page).all()


def test_a_shadow_lies_at_one_end_only(ink):
    page = clean_print(ink, Dice(1)).astype(int)
    for seed in range(20):
        darker = (page - marks.shadow(page, 16.0, Dice(seed))).max(0)
        assert max(darker[0], darker[-1]) > 30 and min(darker[0], darker[-1]) == 0


def test_a_curl_moves_one_end_and_leaves_the_other(ink):
    page = clean_print(ink, Dice(1))
    for seed in range(30):
        curled = marks.curl(page, 20.0, Dice(seed))
        same = (curled == page).all(0)
        assert same[:90].all() or same[-90:].all()


@pytest.mark.parametrize("name", ["faint_print", "damaged_end"])
def test_pale_print_is_lighter_and_the_paper_stays(ink, name):
    page = clean_print(ink, Dice(1))
    for seed in range(20):
        worn = getattr(wear, name)(page, 40.0, Dice(seed))
        assert (worn.astype(int) >= page.astype(int) - 1).all()
        assert worn[2:40].mean() > page[2:40].mean()
        assert abs(int(np.median(worn)) - int(np.median(page))) <= 1


@pytest.mark.parametrize("name", ["coarse_jpeg", "turned_dark"])
def test_coarse_and_turned_scans_keep_letters_darker_than_the_paper(ink, name):
    page = clean_print(ink, Dice(1))
    for seed in range(20):
        worn = getattr(wear, name)(page, 40.0, Dice(seed))
        assert worn.shape == page.shape and worn.dtype == np.uint8
        assert worn[28, 23] + 60 < worn[28, 34]


def test_old_books_have_a_blank_before_commas(renderer):
    text = "Yes, but 1,234 lines, all of 1752, are here,"
    printed = {renderer.spaced_commas(text) for _ in range(200)}
    assert printed == {text, "Yes , but 1,234 lines , all of 1752, are here ,"}


def test_letters_stand_apart_where_only_words_can_be_meant(renderer):
    assert letters_may_spread("CHAPTER THE LAST.") and letters_may_spread("Müller")
    for text in ("A B C", "J. Smith", "AB12", "to a house", "word " * 8):
        assert not letters_may_spread(text)
    place = Placement(4.0, 100.0, 6.0, 60.0, 44.0, ["Old House"], [100.0])
    face = StubFace()
    for _ in range(50):
        spread = renderer.spread(place, face, 32)
        gaps = [a - face.getlength(c) for c, a in zip(spread.chunks, spread.advances)]
        between = gaps.pop(spread.chunks.index(" "))
        assert "".join(spread.chunks) == "Old House" and max(gaps) - min(gaps) < 1e-6
        assert gaps[0] >= 3.2 and between + gaps[0] > 1.8 * gaps[0]


def test_commas_lose_their_tails_only_where_the_text_tells(renderer):
    text = "It was, as ever, 1,234 lines, Mr. Bell, a page"
    printed = {renderer.without_tails(text) for _ in range(300)}
    assert text in printed and len(printed) > 2
    for shown in printed:
        assert shown.replace(".", ",") == text.replace(".", ",")
        assert "1,234" in shown and "Mr." in shown and "lines, Mr" in shown
