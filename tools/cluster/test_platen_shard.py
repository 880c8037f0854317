"""Running a shard, with a program that stands in for platen: it ends as the test says, and notes how it was called."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from platen_shard import Job, JobError, NotFinished, Result, may_be_tried_again, run_shard

HERE = Path(__file__).resolve().parent
# Takes the first line of the file "ends": an exit code, "kill" or "sleep". SIGTERM ends it as an interrupted run.
FAKE = """#!/bin/bash
here=$(dirname "$0")
echo "$@" >> "$here/calls"
end=$(head -n 1 "$here/ends")
sed -i 1d "$here/ends"
echo "first word" >&2
echo "ends with $end" >&2
case $end in
  kill) kill -9 $$ ;;
  sleep) trap 'echo drained >> "$here/calls"; exit 130' TERM
         echo $$ > "$here/pid"
         for ((i = 0; i < 300; ++i)); do sleep 0.1; done ;;
  *) exit "$end" ;;
esac
"""


class FakePlaten(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "platen"
        self.program.write_text(FAKE)
        self.program.chmod(0o755)

    def job(self, *ends, **more):
        (self.folder / "ends").write_text("".join(f"{end}\n" for end in ends))
        return Job(("/in",), "/out", program=str(self.program), wait_s=0.01, **more)

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()


class RunShard(FakePlaten):
    def test_a_shard_that_is_read(self):
        result = run_shard(self.job(0, options=("--format", "txt")), 3, 40)
        self.assertEqual((result.shard, result.exit_code, result.tries), ("3/40", 0, 1))
        self.assertEqual(self.calls(), ["ocr /in -o /out --quiet --shard 3/40 --format txt"])

    def test_the_run_over_everything_names_no_shard(self):
        self.assertEqual(run_shard(self.job(0)).shard, "")
        self.assertEqual(self.calls(), ["ocr /in -o /out --quiet"])

    def test_documents_that_failed_are_not_tried_again(self):
        self.assertEqual(run_shard(self.job(1, 0), 1, 2), Result("1/2", 1, 1, "first word\nends with 1"))
        self.assertEqual(len(self.calls()), 1)

    def test_what_another_try_may_mend(self):
        result = run_shard(self.job(3, 130, 137, "kill", 0), 1, 2)
        self.assertEqual((result.exit_code, result.tries), (0, 5))
        self.assertEqual(len(set(self.calls())), 1)

    def test_tries_end(self):
        with self.assertRaisesRegex(NotFinished, r"shard 1/2: exit code 3 after 2 tries: first word\nends with 3"):
            run_shard(self.job(3, 3, 0, tries=2), 1, 2)
        self.assertEqual(len(self.calls()), 2)

    def test_each_wait_is_twice_the_one_before(self):
        with mock.patch("time.sleep") as sleep:
            run_shard(self.job(3, 3, 3, 0), 1, 2)
        self.assertEqual([call.args[0] for call in sleep.call_args_list], [0.01, 0.02, 0.04])

    def test_wrong_options_end_the_job(self):
        with self.assertRaisesRegex(JobError, "exit code 2"):
            run_shard(self.job(2, 0), 1, 2)
        self.assertEqual(len(self.calls()), 1)

    def test_a_program_that_is_not_there_ends_the_job(self):
        with self.assertRaisesRegex(JobError, "^/nowhere/platen: not found"):
            run_shard(Job(("/in",), "/out", program="/nowhere/platen"), 1, 2)

    def test_codes(self):
        again = [code for code in range(-15, 256) if may_be_tried_again(code)]
        self.assertEqual(again, [*range(-15, 0), 3, *range(129, 256)])


class Stopped(FakePlaten):
    """platen ends with the process that has started it, and finishes its pages first."""

    def stop_with(self, number):
        (self.folder / "ends").write_text("sleep\n")
        code = ("import signal, sys; from platen_shard import Job, run_shard\n"
                "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored\n"
                "run_shard(Job(('/in',), '/out', program=sys.argv[1]), 1, 2)")
        caller = subprocess.Popen([sys.executable, "-c", code, str(self.program)], cwd=HERE, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: (self.folder / "pid").exists())
        caller.send_signal(number)
        caller.wait()
        self.wait_for(lambda: self.calls()[-1] == "drained")

    def wait_for(self, condition):
        for _ in range(290):  # not longer than the program sleeps
            if condition():
                return
            time.sleep(0.1)
        self.fail("waited 29 s")

    def test_interrupted(self):
        self.stop_with(signal.SIGINT)

    @unittest.skipIf(subprocess.call(["which", "setpriv"], stdout=subprocess.DEVNULL), "setpriv is not installed")
    def test_killed(self):
        self.stop_with(signal.SIGKILL)


class Jobs(unittest.TestCase):
    def test_paths_are_those_of_the_machine_that_made_the_job(self):
        job = Job(("scans", "more/**/*.tif"), "out")
        self.assertEqual(job.inputs, (os.path.abspath("scans"), os.path.abspath("more/**/*.tif")))
        self.assertEqual(job.out, os.path.abspath("out"))

    def test_what_no_job_can_have(self):
        for inputs in ((), ("-",)):
            with self.assertRaisesRegex(ValueError, "standard input"):
                Job(inputs, "out")
        with self.assertRaisesRegex(ValueError, "tries: 0"):
            Job(("in",), "out", tries=0)


if __name__ == "__main__":
    unittest.main()
