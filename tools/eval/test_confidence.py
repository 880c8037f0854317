"""Tests of the calibration of lines: python -m unittest test_confidence (in this folder)."""
import unittest

import confidence


def result(*lines):
    return {"regions": [{"lines": [{"text": text, "confidence": {"mean": mean}} for text, mean in lines]}]}


class Calibration(unittest.TestCase):
    def test_wrong_characters_are_counted_in_their_lines(self):
        lines = confidence.lines_of(result(("the quick", 0.9), ("  ", 0.1), ("brovn foxx", 0.8)))
        self.assertEqual([text for text, _ in lines], ["the quick", "brovn foxx"])
        self.assertEqual(confidence.right_by_line("the quick\nbrown fox", lines), [(9, 9), (10, 8)])

    def test_what_is_missing_is_no_fault_of_what_was_read(self):
        self.assertEqual(confidence.right_by_line("a long day", [("a", 1.0), ("day", 1.0)]), [(1, 1), (3, 3)])

    def test_both_sides_are_normalised(self):
        lines = confidence.lines_of(result(("“½”  –", 1.0)))
        self.assertEqual(confidence.right_by_line('"1/2" -', lines), [(7, 7)])

    def test_the_error_is_weighed_by_characters(self):
        rows, error = confidence.calibration([(30, 30), (10, 5)], [0.98, 0.7])
        self.assertEqual([(n, round(said, 3), right) for n, said, right in rows],
                         [(10, 0.7, 0.5), (30, 0.98, 1.0)])
        self.assertAlmostEqual(error, (30 * 0.02 + 10 * 0.2) / 40)

    def test_over_and_under_confident_lines_of_a_bin_cancel_out(self):
        _, error = confidence.calibration([(10, 10), (10, 8)], [0.95, 0.95])
        self.assertAlmostEqual(error, 0.05)

    def test_nothing_read_is_no_error(self):
        self.assertEqual(confidence.calibration([], []), ([], 0.0))


if __name__ == "__main__":
    unittest.main()
