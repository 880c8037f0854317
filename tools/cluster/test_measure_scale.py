"""The measurements: the files that are made, counting, and a small archive through platen (skipped where it is not built)."""
import argparse
import json
import sys
import tempfile
import unittest
import zlib
from collections import Counter
from pathlib import Path
from unittest import mock

import measure_scale
from archive_for_tests import PROGRAM

TABLE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 58.70    1.921838           3    500735        43 newfstatat
 14.56    0.476849           4    101163           openat
  0.00    0.000000           0         1           flock
------ ----------- ----------- --------- --------- ----------------
100.00    3.274010                703099       105 total
"""


class Counting(unittest.TestCase):
    def test_a_table_of_strace(self):
        self.assertEqual(measure_scale.calls_of(TABLE), {"newfstatat": 500735, "openat": 101163, "flock": 1})

    def test_starts_cancel_out(self):
        small = Counter(openat=40 + 3 * 200, fsync=7, mprotect=40)
        large = Counter(openat=40 + 3 * 1200, fsync=7, mprotect=5040)
        self.assertEqual(measure_scale.for_each(small, large, 1000), {"openat": 3.0})

    def test_numbers_of_documents(self):
        self.assertEqual(measure_scale.counts("10,200"), [10, 200])
        for text in ("many", "10,0"):
            with self.assertRaises(argparse.ArgumentTypeError):
                measure_scale.counts(text)


class Running(unittest.TestCase):
    def test_time_and_memory_are_those_of_the_child(self):
        code = "import time; space = bytearray(200 << 20); end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
        used = measure_scale.run([sys.executable, "-c", code])
        self.assertGreaterEqual(used["wall_s"], 0.3)
        self.assertAlmostEqual(used["user_s"] + used["system_s"], 0.4, delta=0.3)
        self.assertGreater(used["memory_mib"], 200)

    def test_a_failure_ends_the_measurement(self):
        with self.assertRaisesRegex(SystemExit, "exit code 7"):
            measure_scale.run([sys.executable, "-c", "raise SystemExit(7)"])


class Archive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_every_document_has_content_of_its_own(self):
        archive = measure_scale.make_archive(self.folder / "in", measure_scale.A_FOLDER + 5)
        files = list(archive.rglob("*.png"))
        self.assertEqual(len({file.read_bytes() for file in files}), measure_scale.A_FOLDER + 5)
        self.assertEqual(len(list(archive.iterdir())), 2)

    def test_a_page_is_white(self):
        data = measure_scale.png(5)
        packed = data[data.index(b"IDAT") + 4:data.index(b"IEND") - 8]
        self.assertEqual(zlib.decompress(packed), (b"\0" + b"\xff" * 64) * 32)

    @unittest.skipUnless(Path(PROGRAM).exists(), f"not built: {PROGRAM}")
    def test_a_small_archive(self):
        words = argparse.Namespace(platen=Path(PROGRAM), work=self.folder / "work", out_on=self.folder / "out")
        words.work.mkdir()
        measurement = measure_scale.Measurement(words)
        book = words.work / "book.tif"
        book.write_bytes(measure_scale.tiff(0, 3))
        with mock.patch.object(measure_scale, "SETTLED_S", 0), mock.patch.object(measure_scale, "REPEATS", 1):
            figures = measurement.archive(20)
            measure_scale.run(measurement.ocr(book, self.folder / "book"))
        self.assertGreater(figures["ledger_bytes_a_document"], 300)
        self.assertGreaterEqual(figures["files_a_document"], 4, "three outputs and stored results")
        self.assertGreater(figures["all_finished_before"]["median"]["wall_s"], 0)
        self.assertEqual(json.loads((self.folder / "book/run.json").read_text())["totals"]["pages_read"], 3)

    @unittest.skipUnless(Path(PROGRAM).exists(), f"not built: {PROGRAM}")
    def test_a_finished_folder(self):
        source, out = measure_scale.make_archive(self.folder / "in", 5), self.folder / "out"
        measure_scale.run([PROGRAM, "ocr", str(source), "-o", str(out), "--quiet"])
        for may_drop in (True, False):
            with mock.patch.object(measure_scale, "drop_caches", return_value=may_drop):
                figures = measure_scale.finished(PROGRAM, source, out)
            self.assertEqual((figures["documents"], figures["finished_before"]), (5, 5))
            self.assertEqual("all_finished_before_caches_dropped" in figures, may_drop)


if __name__ == "__main__":
    unittest.main()
