"""Character error rate and exact-line rate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from rapidfuzz.distance import Levenshtein

LENGTH_BANDS = ((1, 10), (11, 25), (26, 50), (51, 100))


def score(items: Iterable[tuple[str, str, Iterable[str]]]) -> dict[str, dict[str, float]]:
    """Scores by group of (truth, answer, groups) items: errors per character, exact share."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for truth, got, groups in items:
        errors = Levenshtein.distance(got, truth)
        for group in groups:
            for i, value in enumerate((errors, len(truth), errors == 0, 1)):
                sums[group][i] += value
    return {
        group: {
            "cer": round(e / max(1, chars), 5),
            "exact": round(same / n, 4),
            "lines": n,
            "chars": chars,
        }
        for group, (e, chars, same, n) in sums.items()
    }


def figures_right(items: Iterable[tuple[str, str]]) -> float:
    """Of the words of the truths that hold a digit, the share that the answers have too."""
    found = total = 0
    for truth, got in items:
        words = Counter(w for w in truth.split() if any(c.isdigit() for c in w))
        found += (words & Counter(got.split())).total()
        total += words.total()
    return round(found / max(1, total), 4)


def letters_right(items: Iterable[tuple[str, str]], letters: set[str]) -> tuple[int, int]:
    """Of the places of the truths where one of ``letters`` stands, how many are right, and all."""
    right = total = 0
    for truth, got in items:
        wrong = {o.src_pos for o in Levenshtein.editops(truth, got) if o.tag != "insert"}
        places = {i for i, c in enumerate(truth) if c in letters}
        right += len(places - wrong)
        total += len(places)
    return right, total


def length_band(text: str) -> str:
    """Name of the band that the length of ``text`` falls into."""
    return next((f"{a}-{b} characters" for a, b in LENGTH_BANDS if a <= len(text) <= b), "longer")
