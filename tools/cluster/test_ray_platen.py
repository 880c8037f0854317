"""An archive read by Ray Data on this machine: the files of one run. Skipped without Ray."""
import importlib.util
import tempfile
import unittest
from pathlib import Path

from archive_for_tests import SHARDS, Archive

HAVE_RAY = importlib.util.find_spec("ray") is not None and importlib.util.find_spec("pyarrow") is not None


@unittest.skipUnless(HAVE_RAY, "not installed: ray[data]")
class RayData(Archive):
    @classmethod
    def setUpClass(cls):
        import ray

        import ray_platen
        cls.adapter = ray_platen
        ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", runtime_env=ray_platen.HERE)
        cls.addClassCleanup(ray.shutdown)

    def setUp(self):
        self.set_up_archive(Path(self.enterContext(tempfile.TemporaryDirectory())))

    def test_the_files_of_one_run(self):
        rows = self.adapter.read(self.job("out"), SHARDS, cpus=1)
        self.assert_as_one_run("out")
        self.assertEqual([row["shard"] for row in rows], ["1/4", "2/4", "3/4", "4/4", ""])
        codes = [row["exit_code"] for row in rows]
        self.assertEqual(sorted(codes[:-1]), [0, 0, 0, 1], "the broken image is in one shard")
        self.assertEqual(codes[-1], 1)

    def test_wrong_options_end_the_job(self):
        with self.assertRaisesRegex(Exception, r"JobError: shard [1-4]/4: exit code 2(.|\n)*--no-such-option"):
            self.adapter.read(self.job("out", "--no-such-option"), SHARDS, cpus=1)
        self.assertFalse((self.folder / "out").exists())

    def test_a_shard_that_does_not_finish_keeps_no_other_from_being_read(self):
        (self.folder / "out").mkdir()
        (self.folder / "out" / ".platen").write_text("a file where the folder should be")
        rows = self.adapter.read_row({"part": 1}, self.job("out"), SHARDS)
        self.assertEqual((rows["shard"], rows["exit_code"]), ("1/4", 3), rows)


if __name__ == "__main__":
    unittest.main()
