"""Products in bfloat16 are those of float32 but for the rounding of their operands."""

import copy

import torch
from torch import nn

from half import HalfLinear, halve_products


def pair() -> tuple[nn.Module, nn.Module, torch.Tensor]:
    """A small network, the same with products in bfloat16, and an input."""
    torch.manual_seed(1)
    full = nn.Sequential(nn.Linear(32, 48), nn.SiLU(), nn.Linear(48, 16, bias=False))
    half = copy.deepcopy(full)
    halve_products(half)
    return full, half, torch.randn(3, 7, 32)


def test_results_and_gradients_differ_by_rounding_only():
    full, half, x = pair()
    inputs = [x.clone().requires_grad_(), x.clone().requires_grad_()]
    outputs = [model(i) for model, i in zip((full, half), inputs)]
    for y in outputs:
        y.square().sum().backward()
    assert outputs[1].dtype == torch.float32
    pairs = [outputs, [i.grad for i in inputs]]
    pairs += [[p.grad, q.grad] for p, q in zip(full.parameters(), half.parameters())]
    for exact, rounded in pairs:
        assert not torch.equal(exact, rounded)
        assert (exact - rounded).abs().max() < 0.03 * exact.abs().max()


def test_names_and_weights_stay():
    full, half, _ = pair()
    assert list(half.state_dict()) == list(full.state_dict())
    assert [type(m) for m in half if len(list(m.parameters()))] == [HalfLinear, HalfLinear]


def test_a_frozen_input_costs_no_gradient():
    _, half, x = pair()
    half[0].weight.requires_grad_(False)
    half(x).sum().backward()
    assert half[0].weight.grad is None and half[2].weight.grad is not None
