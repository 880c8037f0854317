"""Crops without text and how they are trained."""

import numpy as np
import pytest
import torch

import not_text
from align import build_guide
from chance import Dice
from model import token_loss
from shards import EMPTY_SHARE, empty_line, make_lines
from train import EMPTY_LENGTH, ctc_loss


def test_crops_have_the_height_and_a_multiple_of_it_as_width_most_of_them_small():
    shapes = [not_text.crop(28, 700, Dice(seed)).shape for seed in range(120)]
    assert all(h == 28 and w % 28 == 0 and 28 <= w <= 700 for h, w in shapes)
    widths = sorted(w for _, w in shapes)
    assert len(set(widths)) > 12 and widths[60] <= 200


def test_crops_are_a_function_of_the_seed():
    for seed in range(30):
        a, b = (not_text.crop(28, 280, Dice(seed)) for _ in range(2))
        assert a.dtype == np.uint8 and np.array_equal(a, b)


@pytest.mark.parametrize("kind", not_text.KINDS)
def test_every_kind_shows_something_and_not_always_the_same(kind):
    pages = [np.clip(kind(160, 56, Dice(seed)), 0, 255) for seed in range(6)]
    assert all(page.shape == (56, 160) for page in pages)
    assert all(not np.allclose(pages[0], page) for page in pages[1:])


@pytest.mark.parametrize("kind", [not_text.halftone, not_text.engraving, not_text.dirt])
def test_printed_textures_have_edges(kind):
    for seed in range(10):
        page = np.clip(kind(160, 56, Dice(seed)), 0, 255)
        assert abs(np.diff(page, axis=1)).max() > 60


class Words:
    """A source of one word."""

    def __init__(self, hard: bool) -> None:
        self.hard = hard

    def line(self) -> str:
        return "word"


class Stub:
    """A renderer that needs no fonts."""

    def __init__(self) -> None:
        self.dice = Dice(1)

    def render(self, text: str, degraded: bool | None):
        line = empty_line(Dice(1))
        line.text = text
        return line


def test_only_hard_sources_give_crops_without_text():
    texts = [line.text for line in make_lines(Words(True), Stub(), 1000)]
    assert 0.5 * EMPTY_SHARE < texts.count("") / 1000 < 1.6 * EMPTY_SHARE
    assert all(line.text for line in make_lines(Words(False), Stub(), 300))


def test_an_empty_line_costs_what_its_steps_say():
    logits = torch.zeros(2, 6, 300)
    logits[..., 0] = 20.0
    assert ctc_loss(logits, ["", ""]) < 1e-3
    logits[0, 2, 7] = 40.0
    assert ctc_loss(logits, ["", ""]) == pytest.approx(20 / EMPTY_LENGTH / 2, rel=0.01)


def test_a_batch_without_text_has_finite_losses():
    guide = build_guide(torch.zeros(2, 12, 300), [[], []], [[], []], 1, 5, 2, 9)
    assert (guide.low == -1).all() and (guide.sub == -1).all()
    guide.position(torch.randn(2, 10, 6))
    q = torch.randn(2, 2, 10, 8)
    guide.attention(q, q)
    assert torch.isfinite(guide.total())
    assert token_loss(torch.randn(2, 0, 9), torch.empty(2, 0, dtype=torch.long)) == 0


def test_empty_lines_stay_unknown_beside_others():
    logits = torch.randn(2, 12, 300)
    guide = build_guide(logits, [[], [5, 6]], [[], [(0, 1), (1, 2)]], 3, 5, 2, 9)
    assert (guide.low[0] == -1).all()
    assert guide.low[1].tolist()[2] == -1 and min(guide.low[1].tolist()[:2]) >= 0


def test_the_token_loss_is_the_mean_over_known_labels():
    logits, labels = torch.randn(2, 3, 9), torch.tensor([[1, 2, -100], [4, -100, -100]])
    known = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    assert token_loss(logits, labels) == pytest.approx(float(known), rel=1e-5)
