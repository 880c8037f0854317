"""What the tests of the adapters share: an archive, and a comparison of two folders of results."""
import hashlib
import os
import shutil
import unittest
from pathlib import Path

from platen_shard import Job, run_shard

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PLATEN_PROGRAM", str(ROOT / "build" / "bin" / "platen"))
SHARDS = 4


def make_archive(folder: Path, documents: int) -> Path:
    """Copies of a sample page, each with content of its own, in two folders."""
    for number in range(documents):
        page = folder / "in" / f"box{number % 2}" / f"{number}.tif"
        page.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "assets/samples/pages/phototest.tif", page)
        with page.open("ab") as file:
            file.write(b"%d" % number)  # readers of TIFF do not look there
    return folder / "in"


def results(out: Path) -> dict[str, str]:
    """Name and hash of every file but the state and run.json, which tells times."""
    return {str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(out.rglob("*"))
            if file.is_file() and file.relative_to(out).parts[0] != ".platen" and file.name != "run.json"}


class Archive(unittest.TestCase):
    """An archive of 12 pages, one of which is no image, as one run reads it."""

    def set_up_archive(self, folder: Path) -> None:
        if not Path(PROGRAM).exists():
            self.skipTest(f"not built: {PROGRAM}")
        self.folder = folder
        self.input = make_archive(folder, 12)
        (self.input / "box1" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"?" * 40)
        whole = run_shard(self.job("whole"))
        self.assertEqual(whole.exit_code, 1, whole)

    def job(self, out: str, *options: str) -> Job:
        return Job((str(self.input),), str(self.folder / out), options, PROGRAM, tries=2, wait_s=0.1)

    def assert_as_one_run(self, out: str) -> None:
        whole = results(self.folder / "whole")
        self.assertGreater(len(whole), 12 * 3)
        self.assertEqual(results(self.folder / out), whole)
        shards = sorted(folder.name for folder in (self.folder / out / ".platen/shards").iterdir())
        self.assertEqual(shards, [f"{part}-of-{SHARDS}" for part in range(1, SHARDS + 1)])
