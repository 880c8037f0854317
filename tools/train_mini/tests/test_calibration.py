"""Which tokens are right, and the expected calibration error."""

import numpy as np
import pytest

from calibration import calibration_error, tokens_right
from evaluate import invented


def test_replaced_and_extra_tokens_are_wrong():
    assert tokens_right(b"abc", b"abc") == [True] * 3
    assert tokens_right(b"abc", b"axc") == [True, False, True]
    assert tokens_right(b"abc", b"abbc").count(False) == 1
    assert tokens_right(b"abcd", b"acd") == [True] * 3
    assert tokens_right(b"", b"xy") == [False, False]


def test_sure_and_right_is_calibrated_and_sure_and_wrong_is_not():
    assert calibration_error([1.0] * 10, [True] * 10) == 0
    assert calibration_error([1.0] * 10, [False] * 10) == 1
    assert calibration_error([], []) == 0


def test_errors_of_one_bin_cancel_and_of_two_bins_do_not():
    assert calibration_error([0.75, 0.75, 0.75, 0.75], [True, True, True, False]) == 0
    both = calibration_error([0.2, 0.2, 0.95, 0.95], [True, False, True, False])
    assert both == pytest.approx((0.3 * 2 + 0.45 * 2) / 4)


def test_draws_from_the_stated_probabilities_are_calibrated():
    rng = np.random.default_rng(1)
    p = rng.uniform(0, 1, 40_000)
    assert calibration_error(p, rng.random(40_000) < p) < 0.01
    assert calibration_error(p, rng.random(40_000) < p**2) > 0.1


def test_inventions_count_by_the_mean_confidence_of_their_crop():
    shares = [[0.5, 0.6], [0.9, 0.95, 0.99], [0.7], []]
    got = invented(["ab", "cde", " f", ""], shares)
    assert (got["with text"], got["characters"]) == (3, 6)
    assert (got["at 0.60 or above"], got["at 0.90 or above"]) == (4, 3)
