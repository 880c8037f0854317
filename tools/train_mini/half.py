"""Products of linear layers in bfloat16, sums and everything else in float32.

A CPU with bfloat16 dot products but no tiles (AMX) does these products at twice the rate of
float32; autocast gains nothing there, as norms and element-wise work become slower in bfloat16.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class HalfProduct(torch.autograd.Function):
    """x [..., in] times a weight [out, in], forward and backward from operands in bfloat16."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor) -> Tensor:  # noqa: ANN001
        x, weight = x.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(x, weight)
        return (x @ weight.mT).float()

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:  # noqa: ANN001
        x, weight = ctx.saved_tensors
        grad = grad.bfloat16()
        to_x = (grad @ weight).float() if ctx.needs_input_grad[0] else None
        if not ctx.needs_input_grad[1]:
            return to_x, None
        return to_x, (grad.flatten(0, -2).mT @ x.flatten(0, -2)).float()


class HalfLinear(nn.Linear):
    """A linear layer whose products are those of ``HalfProduct``."""

    def forward(self, x: Tensor) -> Tensor:
        y = HalfProduct.apply(x, self.weight)
        return y if self.bias is None else y + self.bias


def halve_products(model: nn.Module) -> None:
    """All linear layers of a model that is being trained; names and weights stay."""
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = HalfLinear
