"""CTC forced alignment finds where characters sit."""

import numpy as np
import torch

from align import build_guide, forced_align


def scores(path: list[int], classes: int = 4) -> np.ndarray:
    """Log-probabilities [1, T, C] that clearly prefer one class per step."""
    logits = np.full((1, len(path), classes), -8.0, np.float32)
    logits[0, np.arange(len(path)), path] = 0.0
    return logits


def test_first_step_of_every_character_is_found():
    starts = forced_align(scores([0, 1, 1, 0, 2, 0, 0, 3]), [[1, 2, 3]])
    assert starts.tolist() == [[1, 4, 7]]


def test_repeated_characters_need_a_blank_between():
    assert forced_align(scores([1, 1, 0, 1, 0, 0]), [[1, 1]]).tolist() == [[0, 3]]
    assert forced_align(scores([1, 1, 1]), [[1, 1]]).tolist() == [[0, 2]]


def test_impossible_targets_are_marked_unknown():
    starts = forced_align(scores([1, 1]), [[1, 1, 1]])
    assert starts.tolist() == [[-1, -1, -1]]


def test_guide_points_at_the_image_token_of_each_character():
    logits = torch.from_numpy(scores([1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]))
    guide = build_guide(logits, [[1, 2]], [[(0, 1), (1, 2)]], answer=3, before=5, image=2, first=9)
    assert guide.low.tolist() == [[0, 1, -1]]
    assert guide.sub.tolist() == [[0, 1, -1]]
