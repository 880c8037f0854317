"""Character error rates by group."""

from scoring import figures_right, length_band, letters_right, score


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


def test_figures_are_words_with_digits():
    assert figures_right([("No 12 of 34, 34", "Nr 12 of 3 34."), ("none", "9")]) == 0.3333
    assert figures_right([("7 7", "7")]) == 0.5
    assert figures_right([("7", "7 7"), ("a", "")]) == 1.0


def test_letters_are_counted_where_they_stand():
    items = [("ło się", "lo się"), ("żżab", "żab"), ("no", "ną"), ("ąb", "xąb")]
    assert letters_right(items, set("łężą")) == (3, 5)
