"""Tests of the error rates, and of a run with stand-ins for platen and RapidOCR: python -m unittest test_cer (in this folder)."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from PIL import Image

import cer

# Stands for platen: reads the same three words on every page.
PLATEN = """#!{python}
import sys
from pathlib import Path
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
assert words[0] == "ocr" and value("--threads") == "1"
out = Path(value("-o"))
out.mkdir()
for page in map(Path, Path(value("--manifest")).read_text().splitlines()):
    (out / (page.name + ".txt")).write_text("the quick fox\\n")
"""

# Stands for RapidOCR: finds nothing on the second page; works longer than a start of Python takes.
RAPIDOCR = """import os, time
from types import SimpleNamespace

class RapidOCR:
    def __init__(self, params):
        threads = [value for name, value in params.items() if name.endswith("op_num_threads")]
        assert threads == [1, 1] and os.environ["OMP_NUM_THREADS"] == "1"

    def __call__(self, page):
        assert page.shape == (2, 3, 3)
        end = time.process_time() + 0.5
        while time.process_time() < end:
            pass
        return SimpleNamespace(txts=("the quick", "brown fox") if page[0, 0].tolist() == [0, 0, 255] else None)
"""


class Rates(unittest.TestCase):
    def test_a_wrong_word_is_one_missed_and_one_invented(self):
        rates = cer.score("a b c d", "a b c x")
        self.assertEqual((rates["word_bag"], rates["bag_wer"]), (0.5, 0.25))

    def test_the_order_of_words_is_nothing_but_their_number_counts(self):
        self.assertEqual(cer.score("a b b", "b a b")["word_bag"], 0)
        self.assertEqual(cer.score("a b b", "a b")["word_bag"], 1 / 3)
        self.assertEqual(cer.score("a b", "a b b")["word_bag"], 1 / 2)

    def test_both_sides_are_normalised_first(self):
        self.assertEqual(cer.score("“x” – 1/2", '"x" - ½')["word_bag"], 0)

    def test_a_document_of_inventions_counts_as_one(self):
        self.assertEqual(cer.score("a b", "u v w x y z")["word_bag"], 1)
        self.assertEqual(cer.score("", "a")["word_bag"], 1)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "pages").mkdir()
        (self.folder / "gt").mkdir()
        for name, colour in (("a", "red"), ("b", "white")):
            Image.new("RGB", (3, 2), colour).convert("P").save(self.folder / f"pages/{name}.png")
            (self.folder / f"gt/{name}.txt").write_text("the quick brown fox\n")
        self.platen = self.folder / "platen"
        self.platen.write_text(PLATEN.format(python=sys.executable))
        self.platen.chmod(0o755)
        (self.folder / "modules").mkdir()
        (self.folder / "modules/cv2.py").write_text("def setNumThreads(count): assert count == 1\n")

    def run_with(self, rapidocr: str) -> subprocess.CompletedProcess:
        (self.folder / "modules/rapidocr.py").write_text(rapidocr)
        return subprocess.run(
            [sys.executable, cer.__file__, "--platen", self.platen, "--scans", self.folder, "--rapidocr",
             "--json", self.folder / "report.json"],
            env={**os.environ, "PYTHONPATH": str(self.folder / "modules")}, capture_output=True, text=True)

    def test_rapidocr_stands_beside_platen(self):
        done = self.run_with(RAPIDOCR)
        self.assertEqual(done.returncode, 0, done.stderr)
        [report] = json.loads((self.folder / "report.json").read_text())
        bags = [[page[name]["word_bag"] for name in ("platen", "rapidocr")] for page in report["pages"]]
        self.assertEqual(bags, [[0.25, 0], [0.25, 1]])
        self.assertGreaterEqual(report["core_seconds"]["rapidocr"], 1.0)
        self.assertRegex(done.stdout, r"rapidocr: 2 pages, \d+\.\d\d core-seconds, \d+ pages per core-hour")

    def test_without_rapidocr_the_message_says_what_is_missing(self):
        done = self.run_with("raise ImportError('no rapidocr here')")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no rapidocr here", done.stderr)


if __name__ == "__main__":
    unittest.main()
