"""Runs one shard of an archive as a child process, and again where another try may help.

Used by ray_platen.py and datatrove_platen.py, and of use to any scheduler that is written in Python. Needs Python 3.9
and nothing else; platen must be installed on every machine that runs shards, and see the same paths.
"""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field

DONE, SOME_FAILED, WRONG = 0, 1, 2
AGAIN = (3, 130, 137)  # disk, memory or another run of the shard; interrupted; killed, as a container or shell says it
LAST_LINES = 20  # of what platen says, kept for messages


class JobError(RuntimeError):
    """No shard of the job can do better: wrong options, missing inputs, or no program."""


class NotFinished(RuntimeError):
    """The last try ended with something that another try may mend."""


@dataclass(frozen=True)
class Job:
    """`inputs`, `out`: for platen ocr; relative paths are those of the folder where the job was made. `options`: more words
    for platen ocr. `tries`: of each run. `wait_s`: seconds before the second try; twice as many before each further one.
    """

    inputs: tuple[str, ...]
    out: str
    options: tuple[str, ...] = ()
    program: str = field(default_factory=lambda: os.environ.get("PLATEN_PROGRAM", "platen"))
    tries: int = 5
    wait_s: float = 10.0

    def __post_init__(self) -> None:
        if not self.inputs or "-" in self.inputs:
            raise ValueError("name the inputs: a job has no standard input")
        if self.tries < 1:
            raise ValueError(f"tries: {self.tries}: at least 1")
        object.__setattr__(self, "inputs", tuple(os.path.abspath(item) for item in self.inputs))
        object.__setattr__(self, "out", os.path.abspath(self.out))
        object.__setattr__(self, "options", tuple(self.options))

    def command(self, part: int | None, parts: int) -> list[str]:
        shard = [] if part is None else ["--shard", f"{part}/{parts}"]
        return [self.program, "ocr", *self.inputs, "-o", self.out, "--quiet", *shard, *self.options]


@dataclass(frozen=True)
class Result:
    shard: str  # "3/40"; "" is the run over everything
    exit_code: int  # 0: all is read; 1: some documents failed
    tries: int
    message: str  # the last that platen said; empty if all went well


def may_be_tried_again(exit_code: int) -> bool:
    """Python gives -9 for a child that signal 9 has ended, a shell between the two 137."""
    return exit_code < 0 or exit_code > 128 or exit_code in AGAIN


def started(command: list[str]) -> subprocess.Popen:
    """The running child. With setpriv (util-linux) it gets SIGTERM when this process dies, however that happens."""
    if shutil.which(command[0]) is None:
        raise JobError(f"{command[0]}: not found, or not a program")
    setpriv = shutil.which("setpriv")
    with_parent = [setpriv, "--pdeathsig", "TERM"] if setpriv else []
    return subprocess.Popen([*with_parent, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, errors="replace")


def run_once(command: list[str]) -> tuple[int, str]:
    """Exit code and last words. If this process is interrupted, platen finishes the pages in flight first."""
    with started(command) as child:
        try:
            said = child.communicate()[1]
        except BaseException:
            child.send_signal(signal.SIGTERM)
            child.communicate()
            raise
    return child.returncode, "\n".join(said.strip().splitlines()[-LAST_LINES:])


def run_shard(job: Job, part: int | None = None, parts: int = 1) -> Result:
    """Reads part `part` of `parts`; without `part` what is left of everything. Raises JobError and NotFinished."""
    name = "" if part is None else f"{part}/{parts}"
    what = f"shard {name}" if name else "the run over everything"
    for tries in range(1, job.tries + 1):
        exit_code, said = run_once(job.command(part, parts))
        if exit_code in (DONE, SOME_FAILED):
            return Result(name, exit_code, tries, said)
        if not may_be_tried_again(exit_code):
            raise JobError(f"{what}: exit code {exit_code}: {said}")
        if tries < job.tries:
            time.sleep(job.wait_s * 2 ** (tries - 1))
    raise NotFinished(f"{what}: exit code {exit_code} after {job.tries} tries: {said}")
