"""Whether the probability of a token is the share of such tokens that are right."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from rapidfuzz.distance import Levenshtein

BINS = 15


def tokens_right(truth: bytes, answer: bytes) -> list[bool]:
    """For every byte of an answer whether the shortest edits to the truth leave it as it is."""
    right = [True] * len(answer)
    for op in Levenshtein.editops(answer, truth):
        if op.tag in ("replace", "delete"):
            right[op.src_pos] = False
    return right


def calibration_error(confidence: Iterable[float], right: Iterable[bool]) -> float:
    """Expected calibration error: |confidence - accuracy|, mean over tokens in equal bins."""
    p = np.fromiter(confidence, np.float64)
    good = np.fromiter(right, np.float64)
    if not len(p):
        return 0.0
    which = np.minimum((p * BINS).astype(int), BINS - 1)
    gaps = (abs((p - good)[which == b].sum()) for b in range(BINS))
    return float(sum(gaps) / len(p))
