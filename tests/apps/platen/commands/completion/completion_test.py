"""Completion, driven in the real shells: what a user gets who types a line and presses Tab."""

import os
import subprocess
import tempfile
import unittest

import shells

PROGRAM = os.environ["PLATEN_PROGRAM"]
HOSTILE_PROGRAM = os.environ["PLATEN_HOSTILE"]
HOSTILE = ["$(touch PWNED)", "`touch PWNED`", "x;touch PWNED", "(touch PWNED)", "a'b", 'a"b',
           "two words", "*", "$HOME", "back\\slash", "~", "a:b", "{a,b}", "#x", "<(touch PWNED)",
           "!!", "'$(touch PWNED)'"]
FILES = ["a b.png", "z'$(touch PWNED).png"]
FOLDER = "out dir"


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


class Folder:
    """A test in a folder with files, of the class's shell; skipped where that is not installed."""

    def setUp(self):
        if not shells.is_there(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = os.path.join(temporary.name, "in")
        os.mkdir(self.folder)
        os.mkdir(os.path.join(self.folder, FOLDER))
        for name in FILES:
            open(os.path.join(self.folder, name), "w").close()
        self.script = os.path.join(temporary.name, "script")

    def start(self, script):
        with open(self.script, "w") as file:
            file.write(script)
        opened = getattr(shells, "Fish" if self.shell == "fish" else self.shell)(
            self.script, self.folder)
        self.addCleanup(opened.close)
        return opened

    def platen(self):
        return self.start(output_of(PROGRAM, "completion", self.shell))

    def hostile(self):
        return self.start(output_of(HOSTILE_PROGRAM, self.shell))

    def check_nothing_ran(self):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(FILES + [FOLDER]))


class Interactive(Folder):
    """bash and zsh."""

    def words(self, typed, line):
        """What the shell itself takes the completed line's words for, after those that were typed."""
        start = typed.rpartition(" ")[0] + " "
        self.assertTrue(line.startswith(start), (typed, line))
        run = subprocess.run([self.shell, "-c", "printf '%s\\0' " + line[len(start):]],
                             capture_output=True, text=True, check=True, cwd=self.folder)
        return run.stdout.split("\0")[:-1]

    def check_all(self, shell, typed, expected):
        self.assertEqual(sorted(self.words(typed, shell.all(typed))), sorted(expected), typed)

    def test_commands_options_and_choices(self):
        shell = self.platen()
        overview = output_of(PROGRAM, "help")
        commands = shell.all("platen ").split()[1:]
        self.assertIn("ocr", commands)
        for command in commands:
            self.assertIn(f"\n  {command} ", overview)
        for typed, expected in (
                ("platen export --", ["--format", "--help", "--keep", "--password-file", "--reflow",
                                      "--threads"]),
                ("platen -", ["--help", "--version"]),
                ("platen bench ", ["kernels", "model", "decode", "pages", "layout"]),
                ("platen bench kernels --re", ["--repetitions"]),
                ("platen completion ", ["bash", "zsh", "fish"]),
                ("platen ocr --draft-policy ", ["adaptive", "fixed"]),
                ("platen ocr x --draft-policy=f", ["--draft-policy=fixed"])):
            self.check_all(shell, typed, expected)

    def test_a_list_is_completed_item_by_item(self):
        shell = self.platen()
        self.assertEqual(shell.tab("platen ocr --format txt,m"), "platen ocr --format txt,md")
        self.assertEqual(shell.tab("platen ocr --format=md,h"), "platen ocr --format=md,h")
        self.assertEqual(shell.tab("platen ocr --format=md,ho"), "platen ocr --format=md,hocr")
        keep = shell.all("platen ocr --keep footnotes,foot")
        self.assertEqual(keep.rstrip(), "platen ocr --keep footnotes,footers")

    def test_files_and_folders(self):
        shell = self.platen()
        self.assertEqual(shell.tab("platen ocr a"), "platen ocr a\\ b.png ")
        self.assertEqual(self.words("platen ocr z", shell.tab("platen ocr z")), [FILES[1]])
        self.assertEqual(shell.tab("platen ocr x -o "), "platen ocr x -o out\\ dir/")
        self.assertEqual(shell.tab("platen ocr x --config a"), "platen ocr x --config a\\ b.png ")
        self.assertEqual(shell.tab("platen ocr x -o a"), "platen ocr x -o a")
        self.assertEqual(shell.tab("platen ocr x --threads "), "platen ocr x --threads ")
        self.check_nothing_ran()

    def test_hostile_names_are_only_words(self):
        shell = self.hostile()
        self.check_all(shell, "platen evil --choice ", HOSTILE)
        self.check_all(shell, "platen evil ", HOSTILE)
        self.check_all(shell, "platen evil --list ", HOSTILE)
        self.check_all(shell, "platen ev", ["evil"])
        self.check_all(shell, "platen evil --ch", ["--choice"])
        self.check_nothing_ran()


class BashTest(Interactive, unittest.TestCase):
    shell = "bash"


class ZshTest(Interactive, unittest.TestCase):
    shell = "zsh"


class FishTest(Folder, unittest.TestCase):
    shell = "fish"

    def test_commands_options_and_choices(self):
        shell = self.platen()
        overview = output_of(PROGRAM, "help")
        commands = shell.offers("platen ")
        self.assertIn("ocr", commands)
        for command in commands:
            self.assertIn(f"\n  {command} ", overview)
        for typed, expected in (
                ("platen export --", ["--format", "--help", "--keep", "--password-file", "--reflow",
                                      "--threads"]),
                ("platen bench ", ["decode", "kernels", "layout", "model", "pages"]),
                ("platen bench kernels --re", ["--repetitions"]),
                ("platen bench kernels ", []),
                ("platen completion ", ["bash", "fish", "zsh"]),
                ("platen ocr --draft-policy ", ["adaptive", "fixed"]),
                ("platen ocr --format txt,m", ["txt,md"]),
                ("platen ocr --keep foot", ["footers", "footnotes"]),
                ("platen ocr a", ["a b.png"]),
                ("platen ocr x -o ", ["out dir/"]),
                ("platen ocr x --config a", ["a b.png"]),
                ("platen ocr x --threads ", [])):
            self.assertEqual(sorted(shell.offers(typed)), expected, typed)

    def test_hostile_names_are_only_words(self):
        shell = self.hostile()
        self.assertEqual(sorted(shell.offers("platen evil --choice ")), sorted(HOSTILE))
        self.assertEqual(sorted(set(shell.offers("platen evil ")) & set(HOSTILE)), sorted(HOSTILE))
        self.assertEqual(sorted(shell.offers("platen evil --list ")), sorted(HOSTILE))
        self.assertEqual(shell.offers("platen ev"), ["evil"])
        self.check_nothing_ran()


if __name__ == "__main__":
    unittest.main()
