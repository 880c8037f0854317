"""Tests of the comparison, with planted errors: python -m unittest check_test (in this folder)."""
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import check
import comparison

PROMPT, ANSWER, VOCAB, STOP = 10, 6, 100, 99

# Stands for platen: copies arrays that a test prepared to where --dump says, and prints what platen prints.
PROGRAM = """#!{python}
import json, shutil, sys
from pathlib import Path
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
source = Path({source!r})
(source / "words.json").write_text(json.dumps(words))
if value("--precision") == "f32" and (source / "broken").exists():
    sys.exit("error: no such model")
shutil.copytree(source / value("--precision"), value("--dump"))
if (source / "failed").exists():
    sys.exit(1)
print("prompt          10 tokens\\ntokens          6, ended by token limit\\ntext\\ntokens 1, ended by a text")
"""


def golden_and_dump(seed=1):
    """Two sides that agree. The answer is what the rows of logits say."""
    rng = np.random.default_rng(seed)
    logits = (3 * rng.standard_normal((PROMPT + ANSWER, VOCAB))).astype(np.float32)
    logits[:, STOP] = -20
    answer = [int(t) for t in logits[PROMPT - 1:-1].argmax(axis=1)]
    golden = {"input_ids": rng.integers(0, VOCAB, PROMPT), "position_ids": rng.integers(0, 9, (3, PROMPT)),
              "pixel_values": rng.standard_normal((8, 12)).astype(np.float32),
              "vision_embeds": rng.standard_normal((2, 16)).astype(np.float32), "logits": logits}
    for i in range(12):
        golden[f"layer{i}"] = rng.standard_normal((4, 16)).astype(np.float32)
    dump = {name: array.copy() for name, array in golden.items()}
    for i in range(12):  # platen writes all rows
        dump[f"layer{i}"] = np.concatenate([np.full((PROMPT - 4, 16), 7, np.float32), golden[f"layer{i}"]])
    golden.update(answer=answer, ended_by="limit", stop=[STOP], vocab=VOCAB)
    dump.update(tokens=list(answer), ended_by="token limit")
    return golden, dump


def as_compact(golden):
    following = np.concatenate([golden["input_ids"][1:], golden["answer"], [golden["logits"][-1].argmax()]])
    kept = {name: value for name, value in golden.items() if name != "logits"}
    return {**kept, **comparison.compact(golden["logits"], following)}


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.golden, self.dump = golden_and_dump()

    def verdict(self, precision="f32", own=0.0):
        result = comparison.compare_case("page", self.golden, self.dump)
        result.own_difference = own
        agrees, lines = comparison.verdict(precision, [result])
        return agrees, "\n".join(lines)

    def assert_differs(self, *parts, precision="f32"):
        agrees, text = self.verdict(precision)
        self.assertFalse(agrees, text)
        for part in parts:
            self.assertIn(part, text)

    def test_equal_sides_agree_in_both_precisions(self):
        for precision in ("f32", "int8"):
            agrees, text = self.verdict(precision)
            self.assertTrue(agrees, text)
            self.assertIn("largest difference 0 deviations; the same choice at 7 of 7 places of the answers; 1 of 1 answers equal",
                          text)

    def test_a_shifted_row_is_found_and_named(self):
        self.dump["logits"][4] = np.roll(self.dump["logits"][4], 1)
        self.assert_differs("page: logits: row 4 differs by", "first is logits (the head)")
        self.assert_differs("largest difference", precision="int8")

    def test_shifted_rows_are_found(self):
        self.dump["logits"] = np.roll(self.dump["logits"], 1, axis=0)
        self.assert_differs("logits: row")
        self.assert_differs("mean divergence", "median difference", precision="int8")

    def test_a_swapped_token_is_a_mistake_of_decoding(self):
        self.dump["tokens"][2] = (self.dump["tokens"][2] + 1) % STOP
        for precision in ("f32", "int8"):
            self.assert_differs(f"tokens: place 2 is {self.dump['tokens'][2]}, but platen's own logits there say "
                                f"{self.golden['answer'][2]}", precision=precision)
        self.assertIn("first is tokens (decoding): not the model", self.verdict()[1])

    def test_an_end_that_the_logits_do_not_say_is_a_mistake_of_decoding(self):
        del self.dump["tokens"][3:]
        self.assert_differs("tokens: place 3 is the end, but")
        self.dump["ended_by"] = "endless repetition"
        self.assertTrue(self.verdict()[0])

    def test_an_end_that_the_logits_say_is_rounding(self):
        row = PROMPT - 1 + 3
        self.golden["logits"][row, STOP] = self.golden["logits"][row].max() - 1e-5
        self.dump["logits"][row] = self.golden["logits"][row]
        self.dump["logits"][row, STOP] += 2e-5
        del self.dump["tokens"][3:]
        agrees, text = self.verdict()
        self.assertTrue(agrees, text)
        self.assertIn("0 of 1 answers equal", text)

    def test_going_on_behind_the_end_is_a_mistake_of_decoding(self):
        self.golden["ended_by"] = "stop"
        self.golden["logits"][-1, STOP] = self.dump["logits"][-1, STOP] = 50
        self.assertTrue(self.verdict()[0])
        self.dump["tokens"].append(5)
        self.assert_differs("tokens: place 6 is 5, but platen's own logits there say 99")

    def test_what_is_no_number_never_agrees(self):
        for value in (np.nan, np.inf, -np.inf):
            for place in ((0, 0), (PROMPT + 2, 50)):
                self.setUp()
                self.dump["logits"][place] = value
                for precision in ("f32", "int8"):
                    self.assert_differs(f"logits: 1 rows have values that are no numbers, first row {place[0]}",
                                        precision=precision)

    def test_no_number_in_a_stage_is_named(self):
        self.dump["vision_embeds"][1, 1] = np.nan
        self.dump["logits"] += np.linspace(-1, 1, VOCAB, dtype=np.float32)
        self.assert_differs("first is vision_embeds (the image encoder)")

    def test_another_shape_of_a_stage_is_named(self):
        self.dump["pixel_values"] = self.dump["pixel_values"][1:]
        self.dump["logits"] += np.linspace(-1, 1, VOCAB, dtype=np.float32)
        self.assert_differs("first is pixel_values (the image's patches)")

    def test_other_ids_and_positions_come_first(self):
        self.dump["logits"] = np.zeros((3, VOCAB), np.float32)
        self.dump["position_ids"][1, 7] += 1
        self.assert_differs("position_ids: 1 differ, first at [1, 7]", "first is position_ids (the positions)")
        self.dump["input_ids"] = self.dump["input_ids"][:-1]
        self.assert_differs("input_ids: shape [9], the reference has [10]", "first is input_ids (the prompt)")
        self.assert_differs("input_ids: shape", precision="int8")

    def test_another_shape_of_logits_is_a_difference(self):
        self.dump["logits"] = self.dump["logits"][:-1]
        self.assert_differs("logits: shape [15, 100], the reference has [16, 100]")

    def test_the_first_stage_is_named_by_its_number(self):
        for i in (2, 10, 11):
            self.dump[f"layer{i}"][-1, 3] += 0.1
        self.dump["logits"] += np.linspace(-1, 1, VOCAB, dtype=np.float32)
        self.assert_differs("first is layer2 (the decoder's layers)")

    def test_the_limit_of_f32_follows_the_reference_within_bounds(self):
        deviation = self.golden["logits"][3].astype(np.float64).std()
        for own, limit in ((0, 1e-4), (1e-6, 1e-4), (2e-5, 4e-4), (1, 1e-3)):
            for factor in (0.9, 1.1):
                self.dump["logits"] = self.golden["logits"].copy()
                self.dump["logits"][3, 5] += factor * limit * deviation
                agrees, text = self.verdict(own=own)
                self.assertEqual(agrees, factor < 1, f"{own} {limit} {text}")


class LimitsOfInt8(unittest.TestCase):
    """Each limit is met alone: nothing else is reported."""

    def problems(self, change):
        golden, dump = golden_and_dump()
        change(golden, dump["logits"], golden["logits"].astype(np.float64).std(axis=1))
        dump["tokens"] = [int(t) for t in dump["logits"][PROMPT - 1:-1].argmax(axis=1)]
        return comparison.judge_int8([comparison.compare_case("page", golden, dump)])

    def assert_only(self, part, change):
        found = self.problems(change)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_largest_difference(self):
        def change(factor):
            def add(_golden, logits, deviation):
                logits[2, 5] -= np.float32(factor * comparison.INT8_ERROR * deviation[2])
            return add
        self.assert_only("largest difference", change(1.01))
        self.assertEqual(self.problems(change(0.99)), [])

    def test_median_difference(self):
        rng = np.random.default_rng(2)

        def change(factor):
            def add(_golden, logits, deviation):  # of the prompt's rows, and evenly: no place is far off
                noise = rng.choice([-1, 1], (PROMPT - 1, VOCAB)) * deviation[:PROMPT - 1, None]
                logits[:PROMPT - 1] += (factor * comparison.INT8_SPREAD * noise).astype(np.float32)
            return add
        self.assert_only("median difference", change(1.01))
        self.assertEqual(self.problems(change(0.99)), [])

    def test_mean_divergence(self):
        def add(_golden, logits, _deviation):  # the least likely half becomes a little more likely
            for row in logits[PROMPT - 1:]:
                row[np.argsort(row)[-20:-1]] += 1.3
        self.assert_only("mean divergence", add)

    def test_margin_of_another_choice(self):
        def change(factor):
            def add(golden, logits, deviation):
                row = PROMPT + 1
                first, second = np.argsort(-golden["logits"][row])[:2]
                gap = np.float32(factor * comparison.INT8_MARGIN * deviation[row])
                golden["logits"][row, second] = golden["logits"][row, first] - gap
                logits[row] = golden["logits"][row]
                logits[row, second] = logits[row, first] + np.float32(1e-3)
            return add
        self.assertIn("another choice", " ".join(self.problems(change(1.05))))
        self.assertNotIn("another choice", " ".join(self.problems(change(0.9))))


class Compact(unittest.TestCase):
    def test_measures_are_those_of_whole_logits_as_far_as_they_go(self):
        golden, dump = golden_and_dump()
        dump["logits"] += np.random.default_rng(3).normal(0, 0.6, dump["logits"].shape).astype(np.float32)
        whole = comparison.measure_rows(golden, dump["logits"])
        kept = comparison.measure_rows(as_compact(golden), dump["logits"], at_once=5)
        np.testing.assert_array_equal(kept.chosen, whole.chosen)
        np.testing.assert_array_equal(kept.agrees, whole.agrees)
        self.assertFalse(whole.agrees.all())
        np.testing.assert_allclose(kept.margin, whole.margin, rtol=1e-5)
        self.assertTrue((kept.error <= whole.error + 1e-9).all() and (kept.error > 0.2).all())
        self.assertTrue((kept.divergence <= whole.divergence + 1e-9).all())
        np.testing.assert_allclose(kept.divergence, whole.divergence, rtol=0.3)

    def test_the_margin_of_a_choice_that_was_not_kept_is_at_least_that_of_the_last_kept(self):
        golden, dump = golden_and_dump()
        dump["logits"][4, STOP] = 30
        kept = as_compact(golden)
        margin = comparison.measure_rows(kept, dump["logits"]).margin[4]
        self.assertAlmostEqual(margin, (kept["top_logits"][4, 0] - kept["top_logits"][4, -1]) / kept["deviation"][4], places=6)
        self.assertLess(margin, comparison.measure_rows(golden, dump["logits"]).margin[4])

    def test_divergence_is_the_sum_over_all_ids(self):
        golden, dump = golden_and_dump()
        dump["logits"] += np.random.default_rng(3).normal(0, 0.6, dump["logits"].shape).astype(np.float32)
        p, q = (np.exp(x.astype(np.float64)) for x in (golden["logits"][4], dump["logits"][4]))
        p, q = p / p.sum(), q / q.sum()
        expected = sum(a * np.log(a / b) for a, b in zip(p, q))
        self.assertAlmostEqual(comparison.measure_rows(golden, dump["logits"]).divergence[4], expected, places=9)

    def test_planted_errors_are_found(self):
        for name, plant in (("an id that was not kept becomes the likeliest", lambda x: x.__setitem__((4, STOP), 30)),
                            ("a shifted row", lambda x: x.__setitem__(4, np.roll(x[4], 1))),
                            ("no number", lambda x: x.__setitem__((4, STOP), np.nan)),
                            ("no finite number", lambda x: x.__setitem__((4, STOP), -np.inf))):
            golden, dump = golden_and_dump()
            plant(dump["logits"])
            result = comparison.compare_case("page", as_compact(golden), dump)
            self.assertFalse(comparison.verdict("f32", [result])[0], name)
        golden, dump = golden_and_dump()
        result = comparison.compare_case("page", as_compact(golden), dump)
        self.assertTrue(comparison.verdict("f32", [result])[0])


class Program(unittest.TestCase):
    """check.py with a program that copies prepared dumps."""

    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.folder = Path(temp.name)
        golden, dump = golden_and_dump()
        self.write_golden(self.folder / "golden", golden)
        self.dumps = {}
        for precision in ("f32", "int8"):
            self.dumps[precision] = self.folder / precision
            self.dumps[precision].mkdir()
            for name, value in dump.items():
                if isinstance(value, np.ndarray):
                    np.save(self.dumps[precision] / f"{name}.npy", value)
            (self.dumps[precision] / "result.json").write_text(json.dumps({"tokens": [*dump["tokens"]]}))
        self.program = self.folder / "platen"
        self.program.write_text(PROGRAM.format(python=sys.executable, source=str(self.folder)))
        self.program.chmod(0o755)

    @staticmethod
    def write_golden(folder, golden):
        case = folder / "page"
        case.mkdir(parents=True)
        arrays = [name for name, value in golden.items() if isinstance(value, np.ndarray)]
        for name in arrays:
            np.save(case / f"{name}.npy", golden[name])
        words = {name: value for name, value in golden.items() if name not in arrays}
        (case / "golden.json").write_text(json.dumps({**words, "format": 1, "prompt": "Read:", "max_new_tokens": ANSWER,
                                                      "own_difference": 1e-6, "arrays": arrays}))
        (folder / "golden.json").write_text(json.dumps({"format": 1, "cases": ["page"]}))

    def run_check(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = check.main(["--model", "MODEL", "--golden", str(self.folder / "golden"), "--platen", str(self.program)])
        return status, out.getvalue() + err.getvalue()

    def test_agreement_is_0_and_platen_is_asked_for_the_answer_of_the_reference(self):
        status, text = self.run_check()
        self.assertEqual(status, 0, text)
        self.assertIn("f32: agrees with the reference: 16 positions of 1 images", text)
        self.assertIn("int8: as close to the reference as rounding to int8 allows", text)
        words = json.loads((self.folder / "words.json").read_text())
        answer = json.loads((self.folder / "golden/page/golden.json").read_text())["answer"]
        self.assertEqual(words[words.index("--answer-ids") + 1], ",".join(map(str, answer)))
        self.assertEqual(words[words.index("--logits") + 1], "all")
        self.assertEqual(words[words.index("--prompt") + 1], "Read:")

    def test_a_difference_of_one_precision_is_1(self):
        for precision, other in (("f32", "int8"), ("int8", "f32")):
            path = self.dumps[precision] / "logits.npy"
            good = np.load(path)
            np.save(path, np.roll(good, 1, axis=0))
            status, text = self.run_check()
            np.save(path, good)
            self.assertEqual(status, 1)
            self.assertIn(f"{precision}: does not agree", text)
            self.assertNotIn(f"{other}: does not agree", text)
            self.assertEqual("f32 decides" in text, precision == "f32")
        self.assertEqual(self.run_check()[0], 0)

    def test_a_request_that_platen_cannot_finish_is_compared_as_far_as_it_went(self):
        (self.folder / "failed").touch()
        path = self.dumps["int8"] / "logits.npy"
        logits = np.load(path)
        logits[12] = np.nan
        np.save(path, logits)
        status, text = self.run_check()
        self.assertEqual(status, 1, text)
        self.assertIn("int8: does not agree with the reference.\n  page: logits: 1 rows have values that are no numbers, first row 12",
                      text)

    def test_a_stop_token_at_the_end_is_no_part_of_the_answer(self):
        path = self.dumps["f32"] / "result.json"
        tokens = json.loads(path.read_text())["tokens"]
        path.write_text(json.dumps({"tokens": tokens + [STOP]}))
        self.assertEqual(self.run_check()[0], 0)

    def test_what_cannot_be_run_is_2(self):
        (self.folder / "broken").touch()
        status, text = self.run_check()
        self.assertEqual(status, 2)
        self.assertIn("error: no such model", text)
        (self.folder / "broken").unlink()
        path = self.folder / "golden/page/golden.json"
        path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
        status, text = self.run_check()
        self.assertEqual(status, 2)
        self.assertIn("format 2, this program reads 1; make the golden anew", text)
        self.program.unlink()
        self.assertEqual(self.run_check()[0], 2)


if __name__ == "__main__":
    unittest.main()
