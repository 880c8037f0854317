"""Text that is easily misread, and lines of languages without prose."""

import random

import pytest

from charset import CENTRAL, CHARSET
from confusing import LEADER, Confusing
from foreign import QUOTES, Foreign
from locales import LANGUAGES


@pytest.fixture
def confusing() -> Confusing:
    rng = random.Random(3)
    return Confusing(rng, lambda: rng.choice(("alpha", "beta", "interesting")))


@pytest.mark.parametrize("kind", ["figures", "reference", "dashes", "contents", "sections"])
def test_lines_hold_known_characters_only(confusing, kind):
    made = {getattr(confusing, kind)() for _ in range(300)}
    assert set("".join(made)) <= CHARSET
    assert len(made) > 100


def test_signs_that_are_confused_are_frequent(confusing):
    text = " ".join(confusing.line("some words of prose that go before") for _ in range(600))
    for mark in ",.;:%€$£§°-–—":
        assert text.count(mark) > 10, mark


def test_a_made_piece_may_follow_words_of_the_line(confusing):
    lines = [confusing.line("one two three four five six seven eight nine") for _ in range(100)]
    after = [line for line in lines if line.startswith("one ")]
    assert 15 < len(after) < 70


def test_entries_of_contents_have_one_leader(confusing):
    for _ in range(100):
        assert f" {confusing.contents()} ".count(f" {LEADER} ") == 1


def test_some_entries_have_lost_their_number_and_some_their_title(confusing):
    entries = [confusing.contents() for _ in range(200)]
    assert 30 < sum(e.endswith(LEADER) for e in entries) < 90
    assert 5 < sum(e.startswith(LEADER) for e in entries) < 40


def test_foreign_lines_have_the_words_and_quotes_of_one_language():
    source = Foreign(random.Random(1), {"words_cs": ["žluťoučký kůň", "řeka"], "words_en": ["no"]})
    lines = [source.line(40) for _ in range(200)]
    assert all(len(line) <= 46 for line in lines)
    text = "".join(lines)
    assert set("„“") <= set(text) and not set("«»”") & set(text)
    assert set("žťčů") <= set(text) and "Řeka" in text and "no" not in text.split()


def test_every_language_has_quotes_that_are_known():
    assert set(QUOTES) == set(LANGUAGES)
    assert set("".join(QUOTES.values())) <= CHARSET and "„" in CENTRAL
