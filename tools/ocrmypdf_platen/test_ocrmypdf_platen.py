"""Runs OCRmyPDF with the plugin on sample pages. PLATEN_PROGRAM names the program; without OCRmyPDF all is skipped."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLATEN = os.environ.get("PLATEN_PROGRAM", str(ROOT / "build" / "bin" / "platen"))
MISSING = [name for name in ("ocrmypdf", "img2pdf", "pikepdf") if importlib.util.find_spec(name) is None]
MISSING += [name for name in ("tesseract", "pdftotext", "qpdf") if shutil.which(name) is None]


def text_of(pdf, *options):
    return subprocess.run(["pdftotext", *options, str(pdf), "-"], capture_output=True, text=True, check=True).stdout


@unittest.skipIf(MISSING, "not installed: " + ", ".join(MISSING))
class OcrMyPdf(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        import img2pdf
        pages = [ROOT / "assets/samples/pages" / name for name in ("phototest.tif", "in_russian_trenches_p27.png")]
        self.scan = self.folder / "scan.pdf"
        self.scan.write_bytes(img2pdf.convert([str(page) for page in pages]))

    def run_ocrmypdf(self, *options):
        environment = {**os.environ, "PYTHONPATH": str(HERE)}
        return subprocess.run([sys.executable, "-m", "ocrmypdf", "--plugin", "ocrmypdf_platen", "--quiet", "--jobs", "1",
                               "--platen-program", PLATEN, *options, str(self.scan), str(self.folder / "out.pdf")],
                              capture_output=True, text=True, env=environment)

    def test_pages_get_their_text_and_a_sidecar(self):
        run = self.run_ocrmypdf("--sidecar", str(self.folder / "text.txt"), "--output-type", "pdf")
        self.assertEqual(run.returncode, 0, run.stderr)
        text = text_of(self.folder / "out.pdf")
        sidecar = (self.folder / "text.txt").read_text()
        for words in ("This is a lot of 12 point text", "RUSSIAN TRENCHES", "who are even your enemies"):
            self.assertIn(words, text)
            self.assertIn(words, sidecar)

    def test_words_lie_where_platen_found_them(self):
        run = self.run_ocrmypdf("--output-type", "pdf")
        self.assertEqual(run.returncode, 0, run.stderr)
        out = self.folder / "read"
        subprocess.run([PLATEN, "ocr", str(ROOT / "assets/samples/pages/phototest.tif"), "-o", str(out), "--format",
                        "json", "--quiet"], check=True)
        page = json.loads((out / "phototest.tif.json").read_text())["pages"][0]
        word = page["regions"][0]["lines"][0]["words"][0]
        boxes = text_of(self.folder / "out.pdf", "-bbox", "-l", "1")
        points = float(re.search(r'<page width="([0-9.]+)"', boxes).group(1)) / page["width"]
        place = re.search(rf'<word xMin="([0-9.]+)" yMin="([0-9.]+)" xMax="([0-9.]+)"[^>]*>{word["text"]}<', boxes)
        left, top, right = (float(value) / points for value in place.groups())
        x, y = zip(*word["quad"])
        height = max(y) - min(y)
        self.assertLess(abs(left - min(x)), height / 2)
        self.assertLess(abs(right - max(x)), height / 2)
        self.assertLess(abs(top - min(y)), height)

    def test_another_model_reads_the_pages(self):
        """A GLM-OCR of random weights: its text is noise, and every page gets some."""
        model = ROOT / "tests" / "golden" / "snapshots" / "tiny-a"
        sidecar = self.folder / "text.txt"
        run = self.run_ocrmypdf("--platen-model", str(model), "--sidecar", str(sidecar), "--output-type", "pdf")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(sidecar.read_text().split("\f")), 2)
        self.assertNotIn("This is a lot of 12 point text", sidecar.read_text())
        subprocess.run(["qpdf", "--check", str(self.folder / "out.pdf")], check=True, capture_output=True)

    def test_a_program_that_is_not_there_is_named(self):
        run = self.run_ocrmypdf("--platen-program", "/nowhere/platen")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("/nowhere/platen", run.stderr)

    def test_a_model_that_is_not_there_ends_the_run(self):
        run = self.run_ocrmypdf("--platen-model", "/nowhere")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("/nowhere", run.stderr)


if __name__ == "__main__":
    unittest.main()
