"""The simulation on cases that can be worked out by hand. Skipped without numpy; the plot also without matplotlib."""
import contextlib
import importlib.util
import io
import json
import math
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HAVE_NUMPY = importlib.util.find_spec("numpy") is not None
HAVE_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
if HAVE_NUMPY:
    import numpy

    import simulate
    from simulate import Cluster, Spent

WORDS = {"--workers": "4", "--pages": "4000", "--documents": "400", "--seconds-per-page": "0.5", "--start": "2",
         "--start-per-document": "0.01", "--last-run-per-document": "0.05", "--tail": "1.5", "--largest": "50",
         "--mtbf": "none,10m", "--requeue": "30", "--lost": "3", "--shards-per-worker": "1,4", "--repeats": "3", "--seed": "7"}


def never():
    return math.inf


def after(*times):
    """Failures at these times of successive tries, then none."""
    waiting = list(times)
    return lambda: waiting.pop(0) if waiting else math.inf


@unittest.skipUnless(HAVE_NUMPY, "not installed: numpy")
class ByHand(unittest.TestCase):
    def cluster(self, workers, **other):
        return Cluster(**{"workers": workers, "start": 10.0, "requeue": 30.0, "lost": 5.0, "last_run": 0.0, **other})

    def test_equal_shards(self):
        outcome = simulate.simulate([100.0] * 4, self.cluster(2), never)
        self.assertEqual(outcome.makespan, 2 * (10 + 100))
        self.assertEqual(outcome.spent, Spent(reading=400, starts=40, lost=0, waiting=0))
        self.assertEqual(outcome.efficiency(), 400 / 440)

    def test_a_shard_too_many(self):
        outcome = simulate.simulate([100.0] * 3, self.cluster(2), never)
        self.assertEqual(outcome.makespan, 220)
        self.assertEqual(outcome.spent.waiting, 110)

    def test_more_workers_than_shards(self):
        outcome = simulate.simulate([100.0, 40.0], self.cluster(5), never)
        self.assertEqual(outcome.makespan, 110)
        self.assertEqual(outcome.spent.waiting, 60 + 3 * 110)

    def test_a_straggler(self):
        first = simulate.simulate([300.0, 100, 100, 100], self.cluster(2), never)
        self.assertEqual(first.makespan, 330, "beside the long one the three others take 330 s")
        last = simulate.simulate([100.0, 100, 100, 300], self.cluster(2), never)
        self.assertEqual(last.makespan, 110 + 310)

    def test_the_run_over_everything_keeps_all_waiting(self):
        outcome = simulate.simulate([100.0] * 4, self.cluster(2, last_run=7.0), never)
        self.assertEqual(outcome.makespan, 227)
        self.assertEqual(outcome.spent.waiting, 14)

    def test_a_failure_while_reading(self):
        # 10 s start, 50 s read of which 5 are lost; back at 90; 10 s start and the 55 s that are left.
        outcome = simulate.simulate([100.0], self.cluster(1), after(60.0))
        self.assertEqual((outcome.makespan, outcome.failures), (155, 1))
        self.assertEqual(outcome.spent, Spent(reading=100, starts=20, lost=5, waiting=30))

    def test_a_failure_during_the_start(self):
        outcome = simulate.simulate([100.0], self.cluster(1), after(4.0))
        self.assertEqual(outcome.makespan, 4 + 30 + 110)
        self.assertEqual(outcome.spent, Spent(reading=100, starts=14, lost=0, waiting=30))

    def test_no_more_is_lost_than_was_read(self):
        outcome = simulate.simulate([100.0], self.cluster(1), after(12.0))
        self.assertEqual(outcome.spent.lost, 2)
        self.assertEqual(outcome.makespan, 12 + 30 + 110)

    def test_an_empty_shard_that_fails_is_started_again(self):
        outcome = simulate.simulate([0.0], self.cluster(1), after(4.0))
        self.assertEqual((outcome.makespan, outcome.failures), (4 + 30 + 10, 1))

    def test_a_failure_that_comes_after_the_end_is_none(self):
        for time in (110.0, 115.0):
            outcome = simulate.simulate([100.0], self.cluster(1), after(time))
            self.assertEqual((outcome.makespan, outcome.failures), (110, 0))

    def test_a_shard_comes_back_behind_the_others(self):
        # The second try is that of the short shard, and the third, which would fail after 30 s, that of the rest of the long one.
        outcome = simulate.simulate([100.0, 15.0], self.cluster(1), after(60.0, math.inf, 30.0))
        self.assertEqual(outcome.failures, 2)

    def test_any_worker_takes_what_is_left(self):
        # Worker 1 fails at 20 (5 s read are lost), is back at 50 and reads shard 3 until 160; worker 2 ends shard 2 at 110 and
        # takes what is left of shard 1.
        outcome = simulate.simulate([100.0, 100, 100], self.cluster(2, lost=50.0), after(20.0))
        self.assertEqual(outcome.makespan, 220)
        self.assertEqual(outcome.spent.lost, 10)

    def test_all_time_is_accounted_for(self):
        random = numpy.random.default_rng(5)
        outcome = simulate.simulate([50.0] * 40, self.cluster(7), simulate.failures(60.0, random))
        self.assertGreater(outcome.failures, 10)
        self.assertAlmostEqual(outcome.spent.reading, 2000)
        self.assertAlmostEqual(outcome.spent.total(), 7 * outcome.makespan)
        self.assertGreaterEqual(outcome.spent.waiting, 30 * outcome.failures - 1e-6)


@unittest.skipUnless(HAVE_NUMPY, "not installed: numpy")
class Archives(unittest.TestCase):
    def test_sizes_have_the_sum_and_the_tail_that_were_asked_for(self):
        sizes = simulate.document_sizes(1e6, 200000, 2.0, 1e6, numpy.random.default_rng(3))
        self.assertAlmostEqual(sizes.sum(), 1e6, places=3)
        # The mean is twice the smallest with a tail of 2; a quarter is above twice the smallest, a hundredth above ten times.
        self.assertAlmostEqual(sizes.min() / 5, 0.5, delta=0.02)
        self.assertAlmostEqual((sizes > 2 * sizes.min()).mean(), 1 / 4, delta=0.005)
        self.assertAlmostEqual((sizes > 10 * sizes.min()).mean(), 1 / 100, delta=0.002)

    def test_sizes_end_at_the_largest(self):
        sizes = simulate.document_sizes(1e5, 100000, 1.1, 20, numpy.random.default_rng(3))
        self.assertLess(sizes.max() / sizes.min(), 20 * 11)
        self.assertGreater(sizes.max() / sizes.min(), 0.9 * 20 * 11)

    def test_every_document_is_in_one_shard(self):
        random = numpy.random.default_rng(3)
        shards = simulate.shard_sizes(numpy.array([1.0, 2.0, 4.0]), 100, random)
        self.assertEqual((len(shards), shards.sum()), (100, 7))

    def test_failures_have_the_mean_that_was_asked_for(self):
        draw = simulate.failures(50.0, numpy.random.default_rng(3))
        self.assertAlmostEqual(sum(draw() for _ in range(20000)) / 20000, 50, delta=1.5)
        self.assertEqual(simulate.failures(math.inf, numpy.random.default_rng(3))(), math.inf)


@unittest.skipUnless(HAVE_NUMPY, "not installed: numpy")
class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_with(self, **changed):
        words = {**WORDS, **{"--" + name.replace("_", "-"): value for name, value in changed.items()}}
        told, errors = io.StringIO(), io.StringIO()
        line = [word for name, value in words.items() if value is not None for word in (name, str(value))]
        with mock.patch.object(sys, "argv", ["simulate.py", *line]), contextlib.redirect_stdout(told), \
                contextlib.redirect_stderr(errors):
            try:
                code = simulate.main()
            except SystemExit as end:
                code = end.code
        return code, told.getvalue(), errors.getvalue()

    def test_the_seed_is_told_and_repeats_everything(self):
        code, told, _ = self.run_with(seed=None)
        self.assertEqual(code, 0)
        seed = told.split("seed=")[1].split()[0]
        self.assertEqual(self.run_with(seed=seed)[1], told)
        self.assertNotEqual(self.run_with(seed=int(seed) + 1)[1], told)

    def test_equal_documents_give_what_paper_gives(self):
        # One document: one shard holds it all. 2 s + 400 x 0 start, 2000 s of reading, no failures.
        file = self.folder / "out.json"
        code, _, _ = self.run_with(documents=1, mtbf="none", start_per_document=0, last_run_per_document=20, json=file)
        self.assertEqual(code, 0)
        result = json.loads(file.read_text())
        self.assertEqual(result["least_s"], 4000 * 0.5 / 4)
        for row in result["rows"]:
            starts = 2 * (row["shards_per_worker"] * 4 - 1)  # empty shards; the others wait or start them
            self.assertGreaterEqual(row["makespan_s"]["min"], 2002 + 20)
            self.assertLessEqual(row["makespan_s"]["max"], 2002 + 20 + starts)

    def test_errors_name_the_option_and_what_it_takes(self):
        for name, value, error in (("workers", "0", "--workers: 0: at least 1"), ("tail", "1", "--tail: 1: above 1"),
                                   ("mtbf", "24", "--mtbf: '24': a number with s, m, h or d, or none"),
                                   ("pages", "many", "--pages: 'many' is no number"),
                                   ("documents", "1.5", "--documents: 1.5: a whole number"),
                                   ("plot", "a.pdf", "--plot: a.pdf: a file .svg or .png"),
                                   ("start-per-document", "0.1,-1", "--start-per-document: -1: at least 0"),
                                   ("requeue", None, "required: --requeue")):
            code, _, errors = self.run_with(**{name: value})
            self.assertEqual(code, 2)
            self.assertIn(error, errors)

    def test_each_start_is_simulated_with_each_rate_of_failures(self):
        file = self.folder / "out.json"
        self.run_with(start_per_document="0.01,0.1", json=file)
        rows = json.loads(file.read_text())["rows"]
        self.assertEqual([(row["start_per_document_s"], row["mtbf"], row["shards_per_worker"]) for row in rows],
                         [(start, mtbf, each) for start in (0.01, 0.1) for mtbf in ("none", "10m") for each in (1, 4)])
        cheap, dear = (row["makespan_s"]["median"] for row in (rows[1], rows[5]))
        self.assertAlmostEqual(dear - cheap, 4 * 0.09 * 400, delta=40)  # four shards a worker, 36 s of start more each

    def test_a_plot_of_too_many_lines_is_refused(self):
        code, _, errors = self.run_with(start_per_document="0,1,2", mtbf="none,1h", plot=self.folder / "a.svg")
        self.assertEqual(code, 2)
        self.assertIn("--plot draws 4 combinations", errors)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "not installed: matplotlib")
    def test_the_same_seed_gives_the_same_plot(self):
        for suffix, magic in ((".svg", b"<?xml"), (".png", b"\x89PNG")):
            files = [self.folder / f"{number}{suffix}" for number in range(2)]
            for file in files:
                self.assertEqual(self.run_with(plot=file)[0], 0)
            self.assertTrue(files[0].read_bytes().startswith(magic))
            self.assertEqual(files[0].read_bytes(), files[1].read_bytes())


if __name__ == "__main__":
    unittest.main()
