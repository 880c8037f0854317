"""The learning rate follows the clock, or the lines seen."""

import pytest

from train import LOWEST_RATE, Schedule


def test_constant_then_cosine_then_lowest():
    schedule = Schedule(end_at=200.0, decay_at=100.0, warmup=10)
    rates = [schedule.factor(schedule.decay(now, {}), 1000) for now in (50.0, 150.0, 200.0, 250.0)]
    assert rates == pytest.approx([1.0, (1 + LOWEST_RATE) / 2, LOWEST_RATE, LOWEST_RATE])
    assert [schedule.over(now, 0.0) for now in (199.0, 200.0)] == [False, True]


def test_the_first_steps_warm_up():
    schedule = Schedule(end_at=200.0, decay_at=100.0, warmup=10)
    assert [schedule.factor(0.0, n) for n in (0, 4, 9, 20)] == pytest.approx([0.1, 0.5, 1.0, 1.0])


def test_a_decay_over_lines_waits_for_a_slow_machine():
    schedule = Schedule(end_at=200.0, decay_at=100.0, warmup=1, decay_lines=4000)
    state = {"samples": 7000}
    assert schedule.decay(99.0, state) == 0.0
    assert schedule.decay(190.0, state) == 0.0
    state["samples"] = 8000
    assert schedule.decay(191.0, state) == 0.25
    assert not schedule.over(191.0, 0.25)
    assert schedule.over(200.0, 0.25)


def test_a_decay_over_lines_ends_the_run_and_goes_on_after_a_restart():
    state = {"samples": 11_000, "decay_from": 7000}
    schedule = Schedule(end_at=200.0, decay_at=100.0, warmup=1, decay_lines=5000)
    assert schedule.decay(101.0, state) == pytest.approx(0.8)
    state["samples"] = 12_000
    assert schedule.over(101.0, schedule.decay(101.0, state))
