"""Tests of the comparer: python -m unittest compare_test (in this folder)."""
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import numpy as np

import compare

CASE = Path(__file__).resolve().parents[2] / "tests" / "golden" / "cases" / "tiny-a" / "two_images"


def write_dump(folder):
    """A dump that agrees with the golden case, as far as the golden arrays go."""
    golden = json.loads((CASE / "golden.json").read_text(encoding="utf-8"))
    pixels = []
    for name, entry in golden["arrays"].items():
        array = np.load(CASE / entry["file"])
        if name.startswith("pixel_values."):
            pixels.append(array)
        elif name.endswith("_last4"):
            padded = np.concatenate([np.full((golden["prompt_len"] - 4, array.shape[1]), 7, array.dtype), array])
            np.save(folder / f"{name.removesuffix('_last4')}.npy", padded)
        else:
            np.save(folder / f"{name}.npy", array)
    np.save(folder / "pixel_values.npy", np.concatenate(pixels))
    result = {"prompt": golden["prompt"], "tokens": golden["greedy"]["tokens"], "text": "", "rounds": []}
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.addCleanup(self.temp.cleanup)
        self.dump = Path(self.temp.name)
        write_dump(self.dump)

    def run_main(self, *options):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = compare.main([str(self.dump), str(CASE), *options])
        return status, out.getvalue()

    def edit(self, name, change):
        path = self.dump / f"{name}.npy"
        array = np.load(path)
        np.save(path, change(array))

    def test_an_equal_dump_agrees(self):
        status, text = self.run_main()
        self.assertEqual(status, 0, text)
        self.assertNotIn("MISS", text)
        self.assertIn("ok    pixel_values", text)
        self.assertIn("ok    layer2_last4", text)

    def test_a_difference_above_the_tolerance_names_the_element_and_both_values(self):
        def change(array):
            array[3, 5] = -2.5
            return array
        self.edit("vision_embeds", change)
        status, text = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("MISS  vision_embeds: worst at [3, 5]: -2.5, expected", text)
        self.assertEqual(self.run_main("--factor", "1e9")[0], 0)

    def test_nan_is_never_close(self):
        def change(array):
            array[0] = np.nan
            return array
        self.edit("logits_last", change)
        status, text = self.run_main("--factor", "1e30")
        self.assertEqual(status, 1)
        self.assertIn("MISS  logits_last: worst at [0]: nan", text)

    def test_infinity_is_never_close(self):
        self.edit("hidden", lambda array: np.where(np.arange(array.size).reshape(array.shape) == array.size - 1, np.inf, array))
        self.assertIn("MISS  hidden_last4", self.run_main("--factor", "1e30")[1])

    def test_integers_must_be_equal(self):
        self.edit("position_ids", lambda array: array + (np.arange(array.size).reshape(array.shape) == 40))
        status, text = self.run_main("--factor", "1e9")
        self.assertEqual(status, 1)
        self.assertIn("MISS  position_ids: worst at [1, 10]", text)

    def test_another_shape_is_a_miss(self):
        self.edit("logits_last", lambda array: array[:-1])
        self.assertIn("MISS  logits_last: shape [911], expected [912]", self.run_main()[1])

    def test_missing_and_unreadable_files_are_misses(self):
        (self.dump / "vision_embeds.npy").unlink()
        (self.dump / "logits_last.npy").write_bytes(b"no array")
        (self.dump / "result.json").unlink()
        status, text = self.run_main()
        self.assertEqual(status, 1)
        for name in ("vision_embeds", "logits_last", "result.json"):
            self.assertIn(f"MISS  {name}", text)

    def test_another_token_is_a_miss(self):
        path = self.dump / "result.json"
        result = json.loads(path.read_text(encoding="utf-8"))
        result["tokens"][4] += 1
        path.write_text(json.dumps(result), encoding="utf-8")
        self.assertIn("MISS  tokens: token 4 is", self.run_main()[1])

    def test_a_folder_that_is_not_there_is_wrong_usage(self):
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(compare.main([str(self.dump / "none"), str(CASE)]), 2)


if __name__ == "__main__":
    unittest.main()
