#!/usr/bin/env python3
"""Measures what many documents cost before and beside their reading: the figures of docs/SCALE.md.

    measure_scale.py --platen build/bin/platen --work /tmp/scale --out-on /dev/shm/scale --documents 10000,100000 \\
        --json bench/results/DATE-MACHINE-scale.json

Makes archives of tiny images, each with content of its own, has platen read them, and measures: the start of a run; what one
shard of a thousand costs, which lists all inputs and reads all ledgers; a run that finds everything finished; platen status;
bytes of the ledger, of stored results and of outputs; and, with strace, system calls for each document and page, as the
difference of two runs of different size. --work and --out-on are made, and removed at the end. Needs Python 3.9; strace for
the system calls.

    measure_scale.py --platen build/bin/platen --finished /archive/scans /archive/text --json FILE

measures a run that finds everything finished, and platen status, on folders that are there: on the disk that matters, also with
the system's caches of files dropped before (as root).
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter
from datetime import date, datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 3
A_FOLDER = 1000  # documents
SETTLED_S = 3  # platen looks again at files that were changed within two seconds before they were read


def png(content: int, width: int = 64, height: int = 32) -> bytes:
    """A white image; the number stands in a comment, so that no two have the same content."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\xff" * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"tEXt", b"Comment\0%d" % content)
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def tiff(content: int, pages: int, width: int = 64, height: int = 32) -> bytes:
    """The same with many pages, uncompressed."""
    data = bytearray(struct.pack("<2sHI", b"II", 42, 8))
    for page in range(pages):
        entries = [(256, 3, width), (257, 3, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (277, 3, 1), (278, 3, height),
                   (279, 4, width * height)]
        pixels = len(data) + 2 + 12 * (len(entries) + 1) + 4
        entries = sorted([*entries, (273, 4, pixels)])
        data += struct.pack("<H", len(entries))
        data += b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
        data += struct.pack("<I", 0 if page == pages - 1 else pixels + width * height)
        data += b"\xff" * (width * height)
    return bytes(data + b"%d" % content)


def make_archive(folder: Path, documents: int) -> Path:
    for number in range(documents):
        box = folder / f"{number // A_FOLDER:05}"
        if number % A_FOLDER == 0:
            box.mkdir(parents=True)
        (box / f"{number:08}.png").write_bytes(png(number))
    return folder


def run(command: list[str]) -> dict[str, float]:
    """Seconds of the clock and of cores, and the most memory; of the process alone."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: exit code {child.returncode}")
    return {"wall_s": round(time.perf_counter() - started, 3), "user_s": round(used.ru_utime, 3),
            "system_s": round(used.ru_stime, 3), "memory_mib": round(used.ru_maxrss / 1024)}


def several(command: list[str], repeats: int = REPEATS) -> dict[str, object]:
    """Every repetition in order, and medians; the first has warmed the caches and does not count."""
    run(command)
    runs = [run(command) for _ in range(repeats)]
    return {"runs": runs, "median": {key: statistics.median(one[key] for one in runs) for key in runs[0]}}


def drop_caches() -> bool:
    """Names and contents of files must come from the disk again. False: only root may do it."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        return False
    return True


def finished(program: str, source: Path, out: Path) -> dict:
    command = [program, "ocr", str(source), "-o", str(out), "--quiet"]
    figures = {"all_finished_before": several(command), "status": several([program, "status", str(out)])}
    cold = [run(command) for _ in range(REPEATS) if drop_caches()]
    if cold:
        figures["all_finished_before_caches_dropped"] = {"runs": cold}
    totals = json.loads((out / "run.json").read_text())["totals"]
    return {"documents": totals["documents"], "finished_before": totals["documents_finished_before"], **figures}


def system_calls(command: list[str], log: Path) -> Counter[str]:
    subprocess.run(["strace", "-f", "-c", "-o", str(log), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)
    calls = calls_of(log.read_text())
    if not calls:
        sys.exit(f"strace counted nothing: {log.read_text()[:200]}")
    return calls


def calls_of(table: str) -> Counter[str]:
    """Calls by name of a table of strace -c: share, seconds, microseconds a call, calls, errors if any, name."""
    rows = (re.fullmatch(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)", line) for line in table.splitlines())
    return Counter({row[2]: int(row[1]) for row in rows if row and row[2] != "total"})


FILE_CALLS = """open openat close stat lstat fstat newfstatat statx getdents64 read pread64 write pwrite64 lseek fsync fdatasync
    rename renameat renameat2 link linkat unlink unlinkat mkdir mkdirat ftruncate flock fcntl mmap readlink readlinkat access
    faccessat faccessat2 fallocate copy_file_range utimensat""".split()


def for_each(small: Counter[str], large: Counter[str], units: int) -> dict[str, float]:
    """File calls that one more document or page costs; starts cancel out."""
    each = {name: round((large[name] - small[name]) / units, 2) for name in FILE_CALLS}
    return {name: count for name, count in each.items() if count >= 0.05}


class Measurement:
    def __init__(self, words: argparse.Namespace):
        self.program = str(words.platen.resolve())
        self.work, self.out = words.work, words.out_on

    def ocr(self, source: Path, out: Path, *options: str) -> list[str]:
        return [self.program, "ocr", str(source), "-o", str(out), "--quiet", *options]

    def start(self) -> dict:
        """One tiny page into a new folder, again and again: loading the model is most of it."""
        page = self.work / "one" / "page.png"
        page.parent.mkdir()
        page.write_bytes(png(0))
        runs, load = [], []
        for number in range(REPEATS + 1):
            out = self.out / f"start{number}"
            runs.append(run(self.ocr(page, out)))
            load.append(json.loads((out / "run.json").read_text())["time"]["load_core_s"])
        return {"runs": runs[1:], "load_core_s": load[1:]}

    def archive(self, documents: int) -> dict:
        source, out, empty = make_archive(self.work / f"in{documents}", documents), self.out / f"out{documents}", self.out / "new"
        time.sleep(SETTLED_S)
        figures: dict = {"documents": documents,
                         "a_shard_of_a_thousand_lists": several(self.ocr(source, empty, "--shard", "1/1000")),
                         "read": run(self.ocr(source, out))}
        shutil.rmtree(empty)
        figures["a_shard_of_a_thousand_of_a_finished_archive"] = several(self.ocr(source, out, "--shard", "1/1000"))
        figures["all_finished_before"] = several(self.ocr(source, out))
        figures["status"] = several([self.program, "status", str(out)])
        figures["ledger_bytes_a_document"] = round((out / ".platen/ledger.jsonl").stat().st_size / documents, 1)
        figures["files_a_document"] = round(sum(len(files) for _, _, files in os.walk(out)) / documents, 3)
        shutil.rmtree(out)
        shutil.rmtree(source)
        return figures

    def calls(self) -> dict:
        """System calls: for a document of one page, for a page more of a document, for a document of other shards, and for one
        that was read before."""
        log, few, many = self.work / "strace", 200, 1200
        archives = {number: make_archive(self.work / f"calls{number}", number) for number in (few, many)}
        books = {}
        for pages in (1, 101):
            books[pages] = self.work / f"book{pages}" / "book.tif"
            books[pages].parent.mkdir()
            books[pages].write_bytes(tiff(0, pages))
        time.sleep(SETTLED_S)

        def counted(sources: dict[int, Path], kind: str, *options: str) -> dict[str, float]:
            low, high = sorted(sources)
            commands = [self.ocr(sources[number], self.out / f"{kind}{number}", *options) for number in (low, high)]
            return for_each(*(system_calls(command, log) for command in commands), high - low)

        return {"a_document_of_other_shards": counted(archives, "shards", "--shard", "1/100000"),
                "a_document_of_one_page_read": counted(archives, "read"),
                "a_document_read_before": counted(archives, "read"),
                "a_document_of_other_shards_that_is_read": counted(archives, "read", "--shard", "1/100000"),
                "a_page_more_of_a_document": counted(books, "books")}

    def sizes(self) -> dict:
        """Of the sample pages: stored results and outputs, and of ledger lines."""
        samples, out = ROOT / "assets/samples/pages", self.out / "samples"
        run(self.ocr(samples, out, "--threads", "2"))
        pages, lengths = [], {"page": [], "document": []}
        for line in (out / ".platen/ledger.jsonl").read_text().splitlines():
            record = json.loads(line)
            if record["record"] in lengths:
                lengths[record["record"]].append(len(line) + 1)
            if record["record"] == "document":
                key = record["key"]
                stored = (out / ".platen/results" / key[:2] / key).stat().st_size
                words = len((out / (record["output"] + ".txt")).read_text().split())
                pages.append({"name": Path(record["name"]).name, "words": words, "stored_bytes": stored, **record["outputs"]})
        return {"ledger_bytes": {kind: round(statistics.fmean(each), 1) for kind, each in lengths.items()}, "pages": pages}

    def disk(self, documents: int = 500) -> dict:
        """The same archive into --work: what syncing four files a document costs on that disk."""
        source = make_archive(self.work / "disk", documents)
        time.sleep(SETTLED_S)
        return {"documents": documents, "on_work": run(self.ocr(source, self.work / "disk-out")),
                "on_out": run(self.ocr(source, self.out / "disk-out"))}


def file_system(folder: Path) -> str:
    return subprocess.run(["stat", "-f", "-c", "%T", str(folder)], capture_output=True, text=True, check=True).stdout.strip()


def machine(words: argparse.Namespace, inputs: Path, results: Path) -> dict:
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    version = subprocess.run([words.platen, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    return {"date": str(date.today()), "program": version, "cpu": model[1] if model else platform.machine(),
            "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(), "inputs_on": file_system(inputs),
            "results_on": file_system(results), "load_at_start": os.getloadavg()}


def counts(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: whole numbers, by commas") from None
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: at least 1")
    return numbers


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platen", type=Path, required=True, metavar="FILE", help="the program")
    parser.add_argument("--work", type=Path, metavar="DIR", help="new folder for the inputs")
    parser.add_argument("--out-on", type=Path, metavar="DIR",
                        help="new folder for the results; on a tmpfs, where nothing waits for a disk, many are read in minutes")
    parser.add_argument("--documents", type=counts, metavar="LIST", help="sizes of archives: 10000,100000")
    parser.add_argument("--without-calls", action="store_true", help="count no system calls")
    parser.add_argument("--finished", type=Path, nargs=2, metavar=("IN", "OUT"), help="folders that are there, in place of these")
    parser.add_argument("--json", type=Path, required=True, metavar="FILE", help="where the figures go")
    return parser


def measure_new(words: argparse.Namespace) -> dict:
    for folder in (words.work, words.out_on):
        if folder.exists():
            sys.exit(f"{folder} exists; name a new folder")
        folder.mkdir(parents=True)
    try:
        measurement = Measurement(words)
        result = {"machine": machine(words, words.work, words.out_on), "start": measurement.start(), "sizes": measurement.sizes()}
        if shutil.which("strace") and not words.without_calls:
            result["calls"] = measurement.calls()
        result["sync"] = measurement.disk()
        result["archives"] = [measurement.archive(documents) for documents in words.documents]
        return result
    finally:
        for folder in (words.work, words.out_on):
            shutil.rmtree(folder)


def main() -> int:
    parser = options()
    words = parser.parse_args()
    if words.finished:
        result = {"machine": machine(words, *words.finished), "finished": finished(str(words.platen.resolve()), *words.finished)}
    elif words.work and words.out_on and words.documents:
        result = measure_new(words)
    else:
        parser.error("give --work, --out-on and --documents, or --finished")
    result["machine"]["load_at_end"] = os.getloadavg()
    result["machine"]["ended"] = datetime.now(timezone.utc).isoformat(timespec="seconds")
    words.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
