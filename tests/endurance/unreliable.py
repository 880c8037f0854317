#!/usr/bin/env python3
"""Reads documents over a file system that is slow and fails now and then, as a bad network does.

    tests/endurance/unreliable.py --work DIR --fs build/tests/unreliable_fs --documents 300 --runs 60

Inputs and outputs lie on tests/endurance/unreliable_fs.cc (needs fuse3 and the right to mount). Calls of some runs fail with
EIO, ESTALE, ETIMEDOUT or ENOSPC, writes are short, closes take long, some runs are killed. A run may fail, but must say
what: with exit code 3 the file and the system's reason, with 1 each document and why, and no document that is there may
be said to be missing. At last one run over the same file system without faults does the rest. The files must be those of
a run that never saw it, byte for byte.

Then a read that never comes back: its document fails with the code timeout, the others are read.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from endurance import ROOT, Failed, Runs, compare, exit_code_of, files_of, make_documents, options_of

REASONS = ("Input/output error", "Stale file handle", "Connection timed out", "No space left on device")


@contextlib.contextmanager
def mounted(args: argparse.Namespace, work: Path, **options: object):
    """Shows work/disk as work/mount."""
    words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), str(value))]
    server = subprocess.Popen([str(args.fs), str(work / "disk"), str(work / "mount"), *words])
    try:
        for _ in range(600):
            if os.path.ismount(work / "mount"):
                break
            time.sleep(0.05)
        else:
            raise Failed("nothing is mounted")
        yield
    finally:
        subprocess.run(["fusermount3", "-u", "-z", str(work / "mount")], check=False)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:  # a read that hangs
            server.kill()
            server.wait()


def check_reason(code: int, messages: str) -> None:
    """Of a run that ended with exit code 3."""
    last = [line for line in messages.splitlines() if "error:" in line]
    if not last or not any(reason in last[-1] for reason in REASONS) or "/" not in last[-1]:
        raise Failed(f"exit code {code} without a file and a reason: {messages[-500:]}")


def failures_named(disk: Path, report: Path, seen: collections.Counter) -> None:
    for line in report.read_text().splitlines():
        failure = json.loads(line)
        seen[failure["code"]] += 1
        if failure["code"] == "not_found" and (disk / failure["input"]).exists():
            raise Failed(f"said to be missing, and is there: {line}")
        if not failure["error"] or failure["code"] in ("internal", "model"):
            raise Failed(f"not named: {line}")


def endure(args: argparse.Namespace, work: Path) -> None:
    rng = random.Random(args.seed + 1)
    (work / "mount").mkdir(parents=True, exist_ok=True)
    make_documents(work / "disk/in", args.documents, args.seed)
    with mounted(args, work):
        Runs(args, work / "mount").whole("quiet")
    runs = Runs(args, work / "mount")
    ends, codes, faults = collections.Counter(), collections.Counter(), collections.Counter()
    while ends.total() < args.runs:
        shards = rng.randint(1, 3)
        index = rng.randint(1, shards)
        options = ["--threads", str(rng.randint(1, 3)), "--slots", str(rng.randint(1, 9)), "--progress-interval", "1000"]
        reports = work / "disk/disturbed"
        if shards > 1:
            options += ["--shard", f"{index}/{shards}"]
            reports = reports / f".platen/shards/{index}-of-{shards}"
        before = (reports / "failures.jsonl").stat().st_mtime_ns if (reports / "failures.jsonl").exists() else 0
        share = 10 ** rng.uniform(-5, -1.8)
        counts = work / "counts"
        with mounted(args, work, seed=rng.randrange(2**32), delay_us=rng.choice((0, 20, 200)), fail=share, counts=counts):
            command = [word for word in runs.command("disturbed", options) if word != "-q"]
            try:
                run = subprocess.Popen(command, cwd=work / "mount", stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)  # fmt: skip
            except OSError:
                ends["no folder"] += 1  # to start in
                continue
            try:
                messages = run.communicate(timeout=rng.uniform(1, 60))[1]
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                messages = run.communicate()[1]
        ends[run.returncode] += 1
        for line in counts.read_text().splitlines():
            faults[line.split()[0]] += int(line.split()[1])
        if run.returncode not in (0, 1, 3, -signal.SIGKILL):
            raise Failed(f"a run ended with {run.returncode}: {messages[-500:]}")
        if run.returncode == 3:
            check_reason(run.returncode, messages)
        if run.returncode == 1 and (reports / "failures.jsonl").stat().st_mtime_ns != before:
            failures_named(work / "disk", reports / "failures.jsonl", codes)
    print(f"runs by exit code {dict(ends)}; calls that failed {dict(faults)}; failures by code {dict(codes)}", flush=True)
    with mounted(args, work, delay_us=20):
        runs.whole("disturbed")
    compare(files_of(work / "disk/quiet"), files_of(work / "disk/disturbed"), work / "disk")
    print(f"{len(files_of(work / 'disk/quiet'))} files are the same byte for byte", flush=True)


def hang(args: argparse.Namespace, work: Path) -> None:
    """A server that does not answer for one document."""
    expected = files_of(work / "disk/quiet")
    name = min(name for name in expected if name.endswith(".pgm.txt"))[: -len(".txt")]
    with mounted(args, work, hang=name):
        runs = Runs(args, work / "mount")
        code = subprocess.run(runs.command("hanging", ["--page-timeout", "30"]), cwd=work / "mount", check=False).returncode
    failures = [json.loads(line) for line in (work / "disk/hanging/failures.jsonl").read_text().splitlines()]
    timeouts = [failure["input"] for failure in failures if failure["code"] == "timeout"]
    if code != 1 or timeouts != [name if name.startswith("in/") else "in/" + name]:
        raise Failed(f"a read of {name} that hangs: exit code {code}, timeouts {timeouts}")
    with mounted(args, work):
        Runs(args, work / "mount").whole("hanging")
    compare(expected, files_of(work / "disk/hanging"), work / "disk")
    print(f"{name} did not come back: it failed, the others were read; the next run read it", flush=True)


def check(args: argparse.Namespace, work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    endure(args, work)
    hang(args, work)


def main() -> int:
    parser = options_of(__doc__, documents=300)
    parser.add_argument("--fs", type=Path, default=ROOT / "build/tests/unreliable_fs", help="(%(default)s)")
    parser.add_argument("--runs", type=int, default=60, metavar="N", help="over a file system with faults (%(default)s)")
    args = parser.parse_args()
    args.fs = args.fs.resolve()
    return exit_code_of(args, check)


if __name__ == "__main__":
    sys.exit(main())
