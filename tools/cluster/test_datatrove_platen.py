"""An archive read by a datatrove pipeline on this machine: the files of one run. Skipped without datatrove."""
import contextlib
import importlib.util
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from archive_for_tests import PROGRAM, SHARDS, Archive

HAVE_DATATROVE = importlib.util.find_spec("datatrove") is not None


@unittest.skipUnless(HAVE_DATATROVE, "not installed: datatrove")
class Datatrove(Archive):
    def setUp(self):
        import datatrove_platen
        self.adapter = datatrove_platen
        self.set_up_archive(Path(self.enterContext(tempfile.TemporaryDirectory())))

    def executor(self, steps, tasks, logs):
        from datatrove.executor import LocalPipelineExecutor
        return LocalPipelineExecutor(steps, tasks=tasks, workers=2, logging_dir=str(self.folder / logs))

    def test_the_files_of_one_run(self):
        job = self.job("out", "--threads", "1")
        shards = self.executor([self.adapter.ReadShard(job)], SHARDS, "logs")
        stats = shards.run().stats[0].stats
        self.assertEqual(stats["shards without failures"].total, 3)
        self.assertEqual(stats["shards with failures"].total, 1, "the broken image is in one shard")
        self.executor([self.adapter.ReadRest(job)], 1, "logs of the rest").run()
        self.assert_as_one_run("out")
        self.assertEqual(shards.get_incomplete_ranks(), [])

    def test_a_shard_that_does_not_finish_is_no_completed_task(self):
        (self.folder / "out").mkdir()
        (self.folder / "out" / ".platen").write_text("a file where the folder should be")
        executor = self.executor([self.adapter.ReadShard(self.job("out"))], 2, "logs")
        with self.assertRaisesRegex(Exception, "exit code 3 after 2 tries"):
            executor.run()
        self.assertEqual(executor.get_incomplete_ranks(), [0, 1])

    def test_wrong_options_end_the_job_with_exit_code_2(self):
        words = ["datatrove_platen.py", "--shards", "2", "--workers", "2", "--logs", str(self.folder / "logs"),
                 str(self.input), str(self.folder / "out"), "--", "--no-such-option"]
        told = io.StringIO()
        with mock.patch.object(sys, "argv", words), mock.patch.dict("os.environ", PLATEN_PROGRAM=PROGRAM), \
                contextlib.redirect_stderr(told):
            self.assertEqual(self.adapter.main(), 2)
        self.assertRegex(told.getvalue(), r"(?m)^shard [12]/2: exit code 2: .*--no-such-option")


if __name__ == "__main__":
    unittest.main()
