"""Character error rates by group."""

from scoring import length_band, score


def test_errors_are_counted_per_character_and_group():
    result = score([("abcd", "abxd", ("all", "a")), ("wxyz12", "wxyz12", ("all", "b"))])
    assert result["all"] == {"cer": 0.1, "exact": 0.5, "lines": 2, "chars": 10}
    assert result["a"]["cer"] == 0.25
    assert result["b"]["exact"] == 1.0


def test_lengths_fall_into_bands():
    assert [length_band("x" * n) for n in (1, 10, 11, 60, 200)] == [
        "1-10 characters",
        "1-10 characters",
        "11-25 characters",
        "51-100 characters",
        "longer",
    ]
