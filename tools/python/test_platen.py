"""The package against the program. PLATEN_PROGRAM names it; by default the one that was built."""
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import platen

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "assets" / "samples" / "pages"
os.environ.setdefault("PLATEN_PROGRAM", str(ROOT / "build" / "bin" / "platen"))


class Read(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "in").mkdir()
        shutil.copy(SAMPLES / "phototest.tif", self.folder / "in" / "a.tif")

    def test_a_page_as_objects(self):
        document, = platen.read([self.folder / "in"])
        self.assertEqual(document.source, "in/a.tif")
        self.assertEqual(len(document.sha256), 64)
        page, = document.pages
        self.assertIn("This is a lot of 12 point text", page.text)
        line = page.regions[0].lines[0]
        self.assertEqual(line.text, " ".join(word.text for word in line.words))
        self.assertGreater(line.confidence, 0.5)
        self.assertEqual(page.regions[0].kind, page.raw["regions"][0]["label"])
        self.assertFalse(document.path.exists(), "of a temporary folder")

    def test_an_output_folder_keeps_what_was_read(self):
        out = self.folder / "out"
        first = platen.read([self.folder / "in"], out, formats=["json", "txt"])
        again = platen.read([self.folder / "in"], out)
        self.assertEqual(first, again)
        self.assertIn("12 point", first[0].output("txt").read_text())
        self.assertEqual(platen.load(out / "in" / "a.tif.json"), first[0])
        platen.export(out, ["hocr"])
        self.assertIn("ocr_page", first[0].output("hocr").read_text())

    def test_one_name_is_no_list_of_letters(self):
        document, = platen.read(str(self.folder / "in" / "a.tif"), formats="txt")
        self.assertEqual(document.source, "a.tif")
        self.assertEqual(platen.read(self.folder / "in" / "a.tif")[0].sha256, document.sha256)

    def test_names_that_look_like_options_are_names(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        shutil.copy(self.folder / "in" / "a.tif", "-q.tif")
        document, = platen.read(["-q.tif"], "-out")
        self.assertEqual(document.source, "-q.tif")
        platen.export("-out", "hocr")
        self.assertIn("ocr_page", document.output("hocr").read_text())

    def test_json_of_somebody_else_is_left_alone(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "mine.json").write_text("[")
        (out / "yours.json").write_text('{"pages": 3}')
        self.assertEqual([document.source for document in platen.read(self.folder / "in", out)], ["in/a.tif"])

    @unittest.skipIf(shutil.which("pdftotext") is None, "needs poppler-utils")
    def test_the_text_of_pdf_pages(self):
        pdf = ROOT / "tests" / "data" / "pdf" / "tesseract.pdf"
        for use, own in (("use", True), ("ignore", False), ("auto", False)):
            with self.subTest(use):
                document, = platen.read([pdf], text_layer=use)
                page, = document.pages
                self.assertEqual(page.from_text_layer, own)
                self.assertIn("This is a lot of 12 point text", page.text)
                line = page.regions[0].lines[0]
                self.assertEqual(line.from_text_layer, own)
                self.assertEqual(line.confidence is None, own)
                self.assertEqual(line.text, " ".join(word.text for word in line.words))
        with self.assertRaises(platen.PlatenError):
            platen.read([pdf], text_layer="perhaps")

    def test_a_document_that_cannot_be_read_has_an_error(self):
        (self.folder / "in" / "b.png").write_bytes(b"no image")
        good, bad = platen.read([self.folder / "in"])
        self.assertIsNone(good.pages[0].error)
        self.assertIn("png", bad.pages[0].error)

    def test_what_platen_refuses_is_raised(self):
        with self.assertRaises(platen.PlatenError) as caught:
            platen.read([self.folder / "nowhere"])
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertIn("nowhere", str(caught.exception))
        with self.assertRaises(FileNotFoundError):
            platen.read([self.folder / "in"], program="/nowhere/platen")


if __name__ == "__main__":
    unittest.main()
