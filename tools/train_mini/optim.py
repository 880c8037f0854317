"""Muon for hidden matrices, AdamW for everything else."""

from __future__ import annotations

import math
import re
from collections import defaultdict

import torch
from torch import Tensor, nn

# The matrices inside of the network; a router is an output of its own.
HIDDEN = re.compile(r"layers\.(?!.*mlp\.gate\.)|\.blocks\.|merger")
# Without AVX-512, products in bfloat16 take ten times as long as in float32.
FAST_HALF = torch.backends.cpu.get_cpu_capability().startswith("AVX512")


def orthogonalise(g: Tensor, steps: int = 5) -> Tensor:
    """Newton-Schulz iteration towards the nearest semi-orthogonal matrix, batched [K, m, n]."""
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = g.shape[-2] > g.shape[-1]
    x = g.mT if tall else g
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    x = x.bfloat16() if FAST_HALF else x
    for _ in range(steps):
        y = x @ x.mT
        x = a * x + (b * y + c * (y @ y)) @ x
    x = x.float()
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum orthogonalised by Newton-Schulz, with decoupled weight decay.

    The update is scaled so that its RMS matches 0.2 (AdamW-like learning rates).
    ``blocks`` says into how many row blocks a fused matrix is split before orthogonalising.
    """

    def __init__(
        self, params: list[dict], lr: float, momentum: float = 0.95, weight_decay: float = 0.05
    ) -> None:
        super().__init__(
            params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "blocks": 1}
        )

    @torch.no_grad()
    def step(self, closure=None) -> None:  # noqa: ANN001
        todo: dict[tuple[int, ...], list[tuple[Tensor, Tensor, dict]]] = defaultdict(list)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(p)
                m = state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                update = p.grad.lerp(m, group["momentum"]).view(group["blocks"], -1, p.shape[-1])
                todo[tuple(update.shape[1:])].append((p, update, group))
        for shape, items in sorted(todo.items()):
            scale = 0.2 * math.sqrt(max(shape))
            stacked = orthogonalise(torch.cat([u for _, u, _ in items]))
            for (p, _, group), x in zip(items, stacked.split([u.shape[0] for _, u, _ in items])):
                p.mul_(1 - group["lr"] * group["weight_decay"]).add_(
                    x.reshape(p.shape), alpha=-group["lr"] * scale
                )


def build(model: nn.Module, lr: float, muon: bool = True) -> list[torch.optim.Optimizer]:
    """Optimizers for all parameters; the trainer sets their rate before every step."""
    matrices: dict[int, list[Tensor]] = defaultdict(list)
    tables, others = [], []
    for name, p in model.named_parameters():
        if muon and p.ndim == 2 and HIDDEN.search(name):
            matrices[3 if ".qkv." in name else 2 if "gate_up" in name else 1].append(p)
        elif p.ndim >= 2:
            tables.append(p)
        else:
            others.append(p)
    adam = torch.optim.AdamW(
        [{"params": tables, "weight_decay": 0.02}, {"params": others, "weight_decay": 0.0}],
        lr=lr,
        betas=(0.9, 0.98),
        eps=1e-9,
        fused=True,
    )
    optimizers: list[torch.optim.Optimizer] = [adam]
    if muon:
        optimizers.append(Muon([{"params": ps, "blocks": b} for b, ps in matrices.items()], lr=lr))
    return optimizers
