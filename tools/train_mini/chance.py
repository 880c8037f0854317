"""Random choices used by the renderer."""

from __future__ import annotations

import numpy as np


class Dice:
    """A seeded random source with the few questions the renderer asks."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def uniform(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def chance(self, p: float) -> bool:
        """True with probability ``p``."""
        return bool(self.rng.random() < p)

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high)."""
        return int(self.rng.integers(low, high))
