"""The man pages through the programs that show and check them: none finds a fault."""

import os
import shutil
import subprocess
import unittest

PROGRAM = os.environ["PLATEN_PROGRAM"]
PAGES = [[], ["ocr"], ["fetch"], ["bench", "kernels"]]
# There is none: the same program prints the same bytes.
NO_DATE = 'WARNING: missing date, using "": TH'


def run(*words, text=None):
    return subprocess.run(words, input=text, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})


class ManPageTest(unittest.TestCase):
    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def pages(self):
        for command in PAGES:
            made = run(PROGRAM, "help", "--man", *command)
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            self.assertTrue(made.stdout.isascii())
            yield made.stdout

    def test_groff_and_man_show_every_page_without_a_warning(self):
        self.need("groff")
        for page in self.pages():
            shown = run("groff", "-ww", "-man", "-Tutf8", "-P-c", text=page)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertIn("Show this help.", shown.stdout)
            if shutil.which("man"):
                shown = run("man", "--warnings", "-l", "-", text=page)
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_mandoc_finds_nothing_but_that_there_is_no_date(self):
        self.need("mandoc")
        for page in self.pages():
            found = run("mandoc", "-Tlint", text=page).stdout.splitlines()
            self.assertEqual([line for line in found if not line.endswith(NO_DATE)], [])

    def test_what_cannot_be_shown_is_refused(self):
        for words, reason in ((["--man", "orc"], "did you mean ocr?"),
                              (["--man", "bench", "x"], "platen help bench shows what there is")):
            refused = run(PROGRAM, "help", *words)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn(reason, refused.stderr)


if __name__ == "__main__":
    unittest.main()
