"""The learning rate follows the clock."""

import pytest

from train import LOWEST_RATE, Schedule


def test_constant_then_cosine_then_lowest():
    schedule = Schedule(end_at=200.0, decay_at=100.0, warmup=10)
    assert schedule.factor(50.0, 1000) == 1.0
    assert schedule.factor(150.0, 1000) == pytest.approx((1 + LOWEST_RATE) / 2)
    assert schedule.factor(200.0, 1000) == pytest.approx(LOWEST_RATE)
    assert schedule.factor(250.0, 1000) == pytest.approx(LOWEST_RATE)


def test_the_first_steps_warm_up():
    schedule = Schedule(end_at=200.0, decay_at=100.0, warmup=10)
    assert [schedule.factor(0.0, n) for n in (0, 4, 9, 20)] == pytest.approx([0.1, 0.5, 1.0, 1.0])
