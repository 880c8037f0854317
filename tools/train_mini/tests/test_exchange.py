"""Workers average their weights without waiting."""

from multiprocessing import Lock

import torch

from exchange import Exchange, flatten, unflatten


def board_of(ranks: int) -> tuple[Exchange, Exchange]:
    """The same board as two processes see it."""
    lock = Lock()
    one, two = Exchange(2, ranks, lock), Exchange(2, ranks, lock)
    two.weights, two.steps = one.weights, one.steps
    return one, two


def test_a_lone_worker_keeps_its_weights():
    one, _ = board_of(2)
    assert one.meet(0, torch.tensor([1.0, 2.0]), 5).tolist() == [1.0, 2.0]


def test_the_mean_is_weighted_by_steps():
    one, two = board_of(2)
    one.meet(0, torch.tensor([0.0, 0.0]), 30)
    assert two.meet(1, torch.tensor([4.0, 8.0]), 10).tolist() == [1.0, 2.0]


def test_stale_weights_are_not_used_twice():
    one, two = board_of(2)
    one.meet(0, torch.tensor([0.0, 0.0]), 10)
    two.meet(1, torch.tensor([4.0, 4.0]), 10)
    assert two.meet(1, torch.tensor([6.0, 6.0]), 10).tolist() == [6.0, 6.0]


def test_flatten_and_unflatten_are_inverse():
    model = torch.nn.Linear(3, 2)
    flat = flatten(model)
    unflatten(model, flat * 2)
    assert torch.equal(flatten(model), flat * 2)
