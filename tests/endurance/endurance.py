#!/usr/bin/env python3
"""Reads many documents while everything goes wrong, and compares the files with those of a quiet run.

    tests/endurance/endurance.py --documents 20000 --kills 300
    tests/endurance/endurance.py --documents 500 --kills 20      # a few minutes

Documents are made from the seed, which is printed: lines of digits, documents of several pages, copies, blank pages,
and some that are cut off, are no image or vanish now and then. They are read once in peace. Then they are read again by
runs of random shards, threads and slots that are killed (SIGKILL, SIGTERM) at random moments, or find the disk full. At last a
run without --shard does the rest. The files of both, failures included, must be the same byte for byte; nothing
may be left in OUT/.platen/tmp, and no process either.

--memory compares the peak memory of 10 pages with that of 5,000. --syscalls kills a run at every call that changes a
file, one after another (needs strace).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FONT = {  # 5 x 7 dots of each digit, a row a number
    "0": (14, 17, 19, 21, 25, 17, 14), "1": (4, 12, 4, 4, 4, 4, 14), "2": (14, 17, 1, 2, 4, 8, 31),
    "3": (31, 2, 4, 2, 1, 17, 14), "4": (2, 6, 10, 18, 31, 2, 2), "5": (31, 16, 30, 1, 1, 17, 14),
    "6": (6, 8, 16, 30, 17, 17, 14), "7": (31, 1, 2, 4, 8, 8, 8), "8": (14, 17, 17, 14, 17, 17, 14),
    "9": (14, 17, 17, 15, 1, 2, 12),
}  # fmt: skip
DOT, MARGIN = 4, 24
WRITING_CALLS = ("write,pwrite64,openat,rename,renameat,renameat2,fsync,fdatasync,syncfs,mkdirat,unlinkat,ftruncate,linkat,"
                 "symlinkat,fallocate,copy_file_range")  # fmt: skip


# What a run may have open, however many pages it reads: its own files, a document and its results for each of 8 slots, and
# the outputs that wait to be synced together (FileBatch::kMostFiles), each with its folder.
OWN_FILES, FILES_OF_SLOTS, WAITING_FILES = 24, 8 * 2, 64 * 2


class Failed(Exception):
    """The files are not what they must be."""


def draw(text: str) -> tuple[int, int, bytes]:
    """Width, height and gray pixels of a line of digits."""
    width, height = 2 * MARGIN + 6 * DOT * len(text), 2 * MARGIN + 7 * DOT
    rows = [bytearray(b"\xff" * width) for _ in range(height)]
    for i, digit in enumerate(text):
        for y, dots in enumerate(FONT[digit]):
            for x in range(5):
                if dots >> (4 - x) & 1:
                    left = MARGIN + DOT * (6 * i + x)
                    for row in rows[MARGIN + DOT * y : MARGIN + DOT * (y + 1)]:
                        row[left : left + DOT] = bytes(DOT)
    return width, height, b"".join(rows)


def pgm(text: str) -> bytes:
    width, height, pixels = draw(text)
    return b"P5 %d %d 255\n" % (width, height) + pixels


def tiff(texts: list[str]) -> bytes:
    """A page for each text, uncompressed."""
    out = bytearray(b"II*\0\0\0\0\0")
    link = 4
    for text in texts:
        width, height, pixels = draw(text)
        at = len(out)
        out += pixels + bytes(len(out) + len(pixels) & 1)
        struct.pack_into("<I", out, link, len(out))
        tags = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, at), (277, 1), (278, height),
                (279, len(pixels))]  # fmt: skip
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, 4, 1, v) for tag, v in tags)
        link = len(out)
        out += bytes(4)
    return bytes(out)


def make_document(rng: random.Random, index: int) -> tuple[str, bytes]:
    number = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 6))) + str(index)
    kind = rng.choices(["line", "pages", "cut", "none", "blank", "copy"], [78, 7, 5, 3, 4, 3])[0]
    name = f"{index // 100:04}/{index:06}"
    if kind == "pages":
        return name + ".tif", tiff([number + str(page) for page in range(rng.randint(2, 5))])
    if kind == "cut":
        whole = pgm(number)
        return name + ".pgm", whole[: rng.randint(1, len(whole) - 1)]
    if kind == "none":
        return name + ".png", b"no image " + number.encode()
    if kind == "blank":
        return name + ".pgm", b"P5 200 100 255\n" + b"\xff" * 20000
    return name + ".pgm", pgm("42" if kind == "copy" else number)


def make_documents(folder: Path, count: int, seed: int) -> list[Path]:
    rng = random.Random(seed)
    files = []
    for index in range(count):
        name, content = make_document(rng, index)
        path = folder / name
        if not path.exists():  # a run of this program that has ended early may have hidden it
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        files.append(path)
    return files


def files_of(out: Path) -> dict[str, str]:
    """Every output by its name, as a digest; failures as their set."""
    digests = {}
    for path in out.rglob("*"):
        name = path.relative_to(out).as_posix()
        if path.is_file() and not name.startswith(".platen/") and name not in ("run.json", "failures.jsonl"):
            digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    lines = sorted((out / "failures.jsonl").read_text().splitlines())
    digests["failures.jsonl"] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return digests


class Runs:
    """Runs of one program over one folder."""

    def __init__(self, args: argparse.Namespace, work: Path) -> None:
        self.platen, self.work, self.full_disk = args.platen, work, args.full_disk

    def command(self, out: str, options: list[str]) -> list[str]:
        return [str(self.platen), "ocr", "in", "-o", out, "--format", "txt,json,tsv", "-q", *options]

    def whole(self, out: str, *options: str) -> dict:
        done = subprocess.run(self.command(out, list(options)), cwd=self.work, stderr=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):
            raise Failed(f"a quiet run ended with {done.returncode}")
        return json.loads((self.work / out / "run.json").read_text())

    def start(self, out: str, options: list[str], environment: dict[str, str]) -> subprocess.Popen:
        return subprocess.Popen(self.command(out, options), cwd=self.work, stderr=subprocess.DEVNULL,
                                env=os.environ | environment, start_new_session=True)  # fmt: skip


def disturb(runs: Runs, files: list[Path], kills: int, rng: random.Random) -> dict[str, int]:
    """Runs that are killed, end early or find no room, while documents come and go."""
    counts = dict.fromkeys(["killed", "ended in order", "disk full", "finished"], 0)
    hidden: list[tuple[Path, bytes]] = []
    while counts["killed"] < kills:
        for path, content in hidden:
            path.write_bytes(content)
        hidden = [(path, path.read_bytes()) for path in rng.sample(files, min(5, len(files)))]
        for path, _ in hidden[:3]:
            path.unlink()
        options = ["--threads", str(rng.randint(1, 3)), "--slots", str(rng.randint(1, 9))]
        options += ["--draft-length", str(rng.randint(0, 3))]
        if rng.random() < 0.5:
            shards = rng.randint(2, 5)
            options += ["--shard", f"{rng.randint(1, shards)}/{shards}"]
        environment = {}
        fault = rng.choices(["kill", "term", "disk"], [8, 1, 1 if runs.full_disk else 0])[0]
        if fault == "disk":
            environment = {"LD_PRELOAD": str(runs.full_disk), "FULL_DISK_AT": str(rng.randint(1, 2000)),
                           "FULL_DISK_BELOW": str(runs.work / "disturbed")}  # fmt: skip
        run = runs.start("disturbed", options, environment)
        counts[wait_for(run, fault, rng)] += 1
        if counts["killed"] % 25 == 0:
            print(f"  {counts}", flush=True)
    for path, content in hidden:
        path.write_bytes(content)
    return counts


def wait_for(run: subprocess.Popen, fault: str, rng: random.Random) -> str:
    try:
        code = run.wait(60 if fault == "disk" else rng.uniform(0.02, 1.5))
    except subprocess.TimeoutExpired:
        code = None
    if code is None:
        os.killpg(run.pid, signal.SIGTERM if fault == "term" else signal.SIGKILL)
        code = run.wait()
    if code not in (0, 1, 3, 130, -signal.SIGKILL, -signal.SIGTERM):  # SIGTERM: before there was anything to end
        raise Failed(f"a run ended with {code}")
    return {-signal.SIGKILL: "killed", 130: "ended in order", -signal.SIGTERM: "ended in order", 3: "disk full"}.get(code, "finished")


def compare(quiet: dict[str, str], disturbed: dict[str, str], work: Path) -> None:
    wrong = [name for name in sorted(quiet.keys() | disturbed.keys()) if quiet.get(name) != disturbed.get(name)]
    left = list((work / "disturbed/.platen").rglob("tmp/*"))
    if wrong:
        raise Failed(f"{len(wrong)} files differ, {wrong[:5]}")
    if left:
        raise Failed(f"{len(left)} files are left over, {left[:5]}")


def endure(args: argparse.Namespace, work: Path) -> None:
    runs = Runs(args, work)
    files = make_documents(work / "in", args.documents, args.seed)
    if not (work / "quiet/run.json").exists():
        start = time.monotonic()
        totals = runs.whole("quiet")["totals"]
        print(f"quiet run: {totals['pages_read']} pages read, {totals['failures']} failures, "
              f"{time.monotonic() - start:.0f} s", flush=True)  # fmt: skip
    counts = disturb(runs, files, args.kills, random.Random(args.seed + 1))
    start = time.monotonic()
    runs.whole("disturbed")
    print(f"disturbed runs: {counts}; the last run {time.monotonic() - start:.0f} s")
    compare(files_of(work / "quiet"), files_of(work / "disturbed"), work)
    print(f"{len(files_of(work / 'quiet'))} files are the same byte for byte")
    start = time.monotonic()
    totals = runs.whole("quiet")["totals"]
    print(f"once more over {args.documents} documents: {totals['documents_finished_before']} finished before, "
          f"{totals['failures']} failures tried again, {time.monotonic() - start:.1f} s")  # fmt: skip


def descriptors(run: subprocess.Popen) -> list[int]:
    """How many files the run has open, while it goes on."""
    counts = []
    while run.poll() is None:
        try:
            counts.append(len(os.listdir(f"/proc/{run.pid}/fd")))
        except OSError:
            break
        time.sleep(0.05)
    return counts


def check_descriptors(counts: list[int]) -> None:
    """Outputs that wait come and go, so the least of each quarter is compared: a leak lifts it, a batch does not."""
    if max(counts) > OWN_FILES + FILES_OF_SLOTS + WAITING_FILES:
        raise Failed(f"{max(counts)} files are open at once")
    quarter = len(counts) // 4
    if quarter < 10:  # too short to tell batches from growth
        return
    second, last = min(counts[quarter : 2 * quarter]), min(counts[-quarter:-1])
    print(f"  at least {second} open files in the second quarter, {last} in the last")
    if last > second + FILES_OF_SLOTS:
        raise Failed(f"at least {last} files are open in the last quarter, {second} in the second")


def measure_memory(args: argparse.Namespace, work: Path) -> None:
    peaks = {}
    for pages in (10, 5000):
        folder = work / f"memory{pages}"
        shutil.rmtree(folder, ignore_errors=True)
        for index in range(pages):
            path = folder / "in" / f"{index:05}.pgm"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pgm(f"{index:07}"))
        runs = Runs(args, folder)
        open_files = descriptors(runs.start("out", ["--threads", "2"], {}))
        peaks[pages] = json.loads((folder / "out/run.json").read_text())["peak_memory_bytes"]
        print(f"{pages} pages: {peaks[pages] / 2**20:.1f} MiB at the most, up to {max(open_files)} open files")
        check_descriptors(open_files)
    if peaks[5000] > 1.1 * peaks[10]:
        raise Failed("5,000 pages take more than a tenth more memory than 10")


def kill_at_every_call(args: argparse.Namespace, work: Path) -> None:
    """A run of a few documents is killed at its first call that changes a file, then at its second, ..."""
    folder = work / "syscalls"
    shutil.rmtree(folder, ignore_errors=True)
    for index, text in enumerate(("1234", "5678")):
        (folder / "in").mkdir(parents=True, exist_ok=True)
        (folder / "in" / f"{index}.pgm").write_bytes(pgm(text))
    (folder / "in/pages.tif").write_bytes(tiff(["12", "34"]))
    (folder / "in/none.png").write_bytes(b"no image")
    runs = Runs(args, folder)
    runs.whole("quiet")
    expected = files_of(folder / "quiet")
    killed = 0
    for call in range(1, 100_000):
        shutil.rmtree(folder / "disturbed", ignore_errors=True)
        inject = f"inject={WRITING_CALLS}:signal=SIGKILL:when={call}"
        trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={WRITING_CALLS}", "-e", inject]
        command = trace + runs.command("disturbed", ["--threads", "1"])
        code = subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL, check=False).returncode
        if code == 1:
            break
        killed += 1
        runs.whole("disturbed")
        compare(expected, files_of(folder / "disturbed"), folder)
    print(f"killed at each of {killed} calls that change files: the same files each time")


def options_of(description: str, documents: int) -> argparse.ArgumentParser:
    """The options that all programs of this folder have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platen", type=Path, default=ROOT / "build/bin/platen", help="the program (%(default)s)")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="folder for all of it")
    parser.add_argument("--documents", type=int, default=documents, metavar="N", help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="(a new one)")
    parser.set_defaults(full_disk=None)
    return parser


def exit_code_of(args: argparse.Namespace, check: Callable[[argparse.Namespace, Path], None]) -> int:
    args.platen = args.platen.resolve()
    print(f"seed {args.seed}", flush=True)
    try:
        check(args, args.work.resolve())
    except Failed as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    parser = options_of(__doc__, documents=500)
    parser.add_argument("--kills", type=int, default=20, metavar="N", help="runs to be killed (%(default)s)")
    parser.add_argument("--full-disk", type=Path, metavar="LIBRARY",
                        help="libplaten_full_disk.so of the build, to have disks that are full")  # fmt: skip
    parser.add_argument("--memory", action="store_true", help="compare 10 pages with 5,000 instead")
    parser.add_argument("--syscalls", action="store_true", help="kill at every call that changes a file instead")
    parser.epilog = "With the same --seed and --work it goes on where it was."
    args = parser.parse_args()
    args.full_disk = args.full_disk and args.full_disk.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    return exit_code_of(args, measure_memory if args.memory else kill_at_every_call if args.syscalls else endure)


if __name__ == "__main__":
    sys.exit(main())
