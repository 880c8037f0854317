"""Weight averaging between independent training processes, without waiting for each other.

On a machine whose cores are shared with other work, two processes that exchange gradients in every
step wait for the slower one most of the time.  Here each process trains on its own and from time to
time replaces its weights by a mean with what the others have published, weighted by the number of
steps each has done since the last look.  A process that is being held up therefore never drags the
others back.
"""

from __future__ import annotations

from multiprocessing.synchronize import Lock

import torch
from torch import Tensor, nn


class Exchange:
    """Shared-memory board with one row of weights and one step counter for each rank."""

    def __init__(self, size: int, ranks: int, lock: Lock) -> None:
        self.weights = torch.zeros(ranks, size).share_memory_()
        self.steps = torch.zeros(ranks, dtype=torch.int64).share_memory_()
        self.lock = lock
        self.known: Tensor | None = None

    def meet(self, rank: int, flat: Tensor, steps: int) -> Tensor:
        """Publish ``flat`` after ``steps`` own steps; returns the mean to go on with."""
        with self.lock:
            if self.known is None:
                self.known = torch.zeros_like(self.steps)
            fresh = (self.steps - self.known).tolist()
            fresh[rank] = steps
            total = float(sum(fresh))
            mean = flat * (steps / total) if total > 0 else flat.clone()
            for other, count in enumerate(fresh):
                if other != rank and count > 0:
                    mean.add_(self.weights[other], alpha=count / total)
            self.weights[rank] = mean
            self.steps[rank] += steps
            self.known = self.steps.clone()
        return mean


def flatten(model: nn.Module) -> Tensor:
    """All parameters as one vector."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def unflatten(model: nn.Module, flat: Tensor) -> None:
    """Write a vector from ``flatten`` back into the parameters."""
    params = list(model.parameters())
    with torch.no_grad():
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.copy_(part.view_as(p))
