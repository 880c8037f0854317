#!/usr/bin/env python3
"""Cuts the power at random moments of a run, on a disk that keeps only what it was told to keep.

    tests/endurance/power_loss.py --work DIR --cuts 300

A run is traced with strace. From its calls follows what a disk may hold at any moment: of a file what it had at its last
sync, or any part of what was written since, or zeros; of names those that were synced, and of later changes any. (No
real file system is as bad.) From each such state one more run must end with the files of a quiet one, byte for byte.
The second half of the cuts are of a run over a folder in which some documents are finished, some failed and some have
changed since. Needs strace.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from endurance import Failed, Runs, compare, exit_code_of, files_of, options_of, pgm, tiff

CALLS = ("open,openat,creat,close,dup,dup2,dup3,fcntl,lseek,write,pwrite64,writev,mkdir,mkdirat,rename,renameat,renameat2,"
         "unlink,unlinkat,ftruncate,fsync,fdatasync,syncfs")  # fmt: skip
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
UNFINISHED = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")


class Node:
    """A file or folder, as programs see it and as far as the disk has it."""

    def __init__(self, is_folder: bool) -> None:
        self.is_folder = is_folder
        self.content, self.kept = bytearray(), b""
        self.entries: dict[str, Node] = {}
        self.kept_entries: dict[str, Node] = {}

    @property
    def is_synced(self) -> bool:
        return self.content == self.kept


class Disk:
    """What the calls of one run have done below `root`."""

    def __init__(self, root: Path) -> None:
        self.top = self._load(root) if root.exists() else None
        self.root = str(root)
        self.files: dict[int, list] = {}  # by descriptor: [node, place, appends]
        self.changes: list[tuple[tuple[Node, ...], list]] = []  # of names, not kept yet

    def _load(self, path: Path) -> Node:
        node = Node(path.is_dir())
        if node.is_folder:
            node.entries = {entry.name: self._load(entry) for entry in path.iterdir()}
            node.kept_entries = dict(node.entries)
        else:
            node.content = bytearray(path.read_bytes())
            node.kept = bytes(node.content)
        return node

    def _change(self, *steps: tuple[Node, str, Node | None]) -> None:
        """Gives each name of a folder to a node, or takes it away: all of them or none."""
        for folder, name, node in steps:
            if node is None:
                folder.entries.pop(name, None)
            else:
                folder.entries[name] = node
        self.changes.append((tuple(folder for folder, _, _ in steps), list(steps)))

    def _keep_names(self, folder: Node | None) -> None:
        rest = []
        for folders, steps in self.changes:
            if folder is None or any(folder is changed for changed in folders):
                self._apply(steps, lambda changed: changed.kept_entries)
            else:
                rest.append((folders, steps))
        self.changes = rest

    @staticmethod
    def _apply(steps: list, entries_of) -> None:
        for folder, name, node in steps:
            if node is None:
                entries_of(folder).pop(name, None)
            else:
                entries_of(folder)[name] = node

    def _find(self, at: str, path: str) -> tuple[Node | None, str]:
        """The folder and the name in it; no folder: it is not below the root."""
        if path.startswith("/"):
            if path != self.root and not path.startswith(self.root + "/"):
                return None, ""
            folder, parts = self.top, path[len(self.root) :].split("/")
        else:
            opened = self.files.get(int(at)) if at != "AT_FDCWD" else None
            if opened is None:
                return None, ""
            folder, parts = opened[0], path.split("/")
        parts = [part for part in parts if part not in ("", ".")]
        for part in parts[:-1]:
            folder = folder.entries.get(part) if folder else None
        return folder, parts[-1] if parts else ""

    def call(self, name: str, words: list[str], result: int) -> None:
        if result < 0:
            return
        if name in ("open", "creat"):
            name, words = "openat", ["AT_FDCWD", *words]
        if name in ("mkdir", "unlink"):
            name, words = name + "at", ["AT_FDCWD", *words]
        if name == "rename":
            words = ["AT_FDCWD", words[0], "AT_FDCWD", words[1]]
        getattr(self, "_on_" + {"renameat2": "renameat", "rename": "renameat", "fdatasync": "fsync", "dup2": "dup",
                                "dup3": "dup"}.get(name, name))(words, result)  # fmt: skip

    def _on_mkdirat(self, words: list[str], _result: int) -> None:
        if text_of(words[1]) == self.root:
            self.top = Node(True)
            return
        folder, name = self._find(words[0], text_of(words[1]))
        if folder is not None:
            self._change((folder, name, Node(True)))

    def _on_openat(self, words: list[str], result: int) -> None:
        self.files.pop(result, None)
        folder, name = self._find(words[0], text_of(words[1]))
        if folder is None:
            return
        node = folder.entries.get(name) if name else folder
        if node is None:
            node = Node(False)
            self._change((folder, name, node))
        if "O_TRUNC" in words[2]:
            node.content = bytearray()
        self.files[result] = [node, 0, "O_APPEND" in words[2]]

    def _on_close(self, words: list[str], _result: int) -> None:
        self.files.pop(int(words[0]), None)

    def _on_dup(self, words: list[str], result: int) -> None:
        self.files.pop(result, None)
        if int(words[0]) in self.files:
            self.files[result] = self.files[int(words[0])]

    def _on_fcntl(self, words: list[str], result: int) -> None:
        if words[1].startswith("F_DUPFD"):
            self._on_dup(words, result)

    def _on_lseek(self, words: list[str], result: int) -> None:
        if int(words[0]) in self.files:
            self.files[int(words[0])][1] = result

    def _write(self, descriptor: str, offset: int | None, data: bytes) -> None:
        opened = self.files.get(int(descriptor))
        if opened is None:
            return
        node, place, appends = opened
        at = offset if offset is not None else len(node.content) if appends else place
        node.content.extend(bytes(max(0, at - len(node.content))))
        node.content[at : at + len(data)] = data
        if offset is None:
            opened[1] = at + len(data)

    def _on_write(self, words: list[str], result: int) -> None:
        self._write(words[0], None, bytes_of(words[1])[:result])

    def _on_pwrite64(self, words: list[str], result: int) -> None:
        self._write(words[0], int(words[3]), bytes_of(words[1])[:result])

    def _on_writev(self, words: list[str], _result: int) -> None:
        if int(words[0]) in self.files:
            raise Failed("writev is not understood")

    def _on_ftruncate(self, words: list[str], _result: int) -> None:
        if int(words[0]) in self.files:
            content, size = self.files[int(words[0])][0].content, int(words[1])
            content[:] = content[:size] + bytes(max(0, size - len(content)))

    def _on_renameat(self, words: list[str], _result: int) -> None:
        (old, old_name), (new, new_name) = (self._find(*pair) for pair in
                                            ((words[0], text_of(words[1])), (words[2], text_of(words[3]))))  # fmt: skip
        if old is not None and new is not None:
            self._change((new, new_name, old.entries[old_name]), (old, old_name, None))

    def _on_unlinkat(self, words: list[str], _result: int) -> None:
        folder, name = self._find(words[0], text_of(words[1]))
        if folder is not None:
            self._change((folder, name, None))

    def _on_fsync(self, words: list[str], _result: int) -> None:
        opened = self.files.get(int(words[0]))
        if opened is None:
            return
        if opened[0].is_folder:
            self._keep_names(opened[0])
        opened[0].kept = bytes(opened[0].content)

    def _on_syncfs(self, _words: list[str], _result: int) -> None:
        self._keep_names(None)
        self._keep_bytes(self.top)

    def _keep_bytes(self, node: Node) -> None:
        node.kept = bytes(node.content)
        for entry in node.entries.values():
            self._keep_bytes(entry)

    def after_power_loss(self, to: Path, rng: random.Random) -> None:
        """Writes one of the states that the disk may be in."""
        names: dict[int, dict[str, Node]] = {}

        def entries_of(folder: Node) -> dict[str, Node]:
            return names.setdefault(id(folder), dict(folder.kept_entries))

        share = rng.choice((0.0, 0.5, 0.5, 1.0))
        for _, steps in self.changes:
            if rng.random() < share:
                self._apply(steps, entries_of)

        def write(node: Node, path: Path) -> None:
            if node.is_folder:
                path.mkdir(parents=True)
                for name, entry in entries_of(node).items():
                    write(entry, path / name)
            else:
                path.write_bytes(node.kept if node.is_synced else unsynced(node, rng))

        write(self.top, to)


def unsynced(node: Node, rng: random.Random) -> bytes:
    """What may stand in a file that was written to after its last sync; what has not changed since is safe."""
    content = bytes(node.content)
    safe = len(os.path.commonprefix((node.kept, content)))
    cut = rng.randint(safe, len(content))
    return rng.choice((node.kept, content, content[:cut], content[:cut] + bytes(len(content) - cut)))


def bytes_of(word: str) -> bytes:
    return bytes.fromhex(word.strip('"').replace("\\x", ""))


def text_of(word: str) -> str:
    return os.fsdecode(bytes_of(word))


def calls_in(trace: Path):
    """Name, words and result of each call, in the order in which they ended; but a close when it begins: from then on
    another thread may be given the descriptor."""
    begun: dict[str, str] = {}
    with trace.open() as lines:
        for line in lines:
            line = line.rstrip("\n")
            if unfinished := UNFINISHED.match(line):
                begun[unfinished[1]] = unfinished[2]
                if unfinished[2].startswith("close("):
                    yield "close", [begun.pop(unfinished[1])[len("close(") :].rstrip(")")], 0
                continue
            if resumed := RESUMED.match(line):
                if resumed[1] not in begun:  # a close
                    continue
                line = f"{resumed[1]} {begun.pop(resumed[1])}{resumed[2]}"
            if found := LINE.match(line):
                yield found[2], found[3].split(", "), int(found[4])


def make_inputs(folder: Path, rng: random.Random, count: int) -> None:
    (folder / "in/b").mkdir(parents=True, exist_ok=True)
    for index in range(count):
        name = f"{rng.choice(('', 'b/'))}{rng.randrange(10 * count)}"
        digits = "".join(rng.choice("0123456789") for _ in range(6))
        if rng.random() < 0.15:
            (folder / f"in/{name}.png").write_bytes(b"no image " + digits.encode())
        elif rng.random() < 0.2:
            (folder / f"in/{name}.tif").write_bytes(tiff([digits + str(page) for page in range(rng.randint(2, 4))]))
        else:
            (folder / f"in/{name}.pgm").write_bytes(pgm(digits))


def cut_power(args: argparse.Namespace, folder: Path, runs: Runs, cuts: int, rng: random.Random) -> int:
    """A run over `begun`, if it is there, traced, and the power cut so often in it. How many calls it has made."""
    trace, traced, begun = folder / "trace", folder / "traced", folder / "begun"
    shutil.rmtree(traced, ignore_errors=True)
    if begun.exists():
        shutil.copytree(begun, traced)
    disk = Disk(traced)
    command = ["strace", "-f", "-qq", "-xx", "-s", "100000000", "-o", str(trace), "-e", f"trace={CALLS}"]
    command += runs.command(str(traced), ["--threads", "2"])
    code = subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 1):
        raise Failed(f"the traced run ended with {code}")
    shutil.rmtree(folder / "quiet", ignore_errors=True)
    if begun.exists():
        shutil.copytree(begun, folder / "quiet")
    runs.whole("quiet")
    expected = files_of(folder / "quiet")
    calls = list(calls_in(trace))
    first = next(i for i, (name, words, _) in enumerate(calls) if any("ledger" in text_of(w) for w in words if '"' in w))
    moments = set(rng.sample(range(first, len(calls)), min(cuts, len(calls) - first)))
    for index, (name, words, result) in enumerate(calls):
        disk.call(name, words, result)
        if index not in moments:
            continue
        shutil.rmtree(folder / "disturbed", ignore_errors=True)
        disk.after_power_loss(folder / "disturbed", rng)
        if args.keep:
            shutil.rmtree(folder / "state", ignore_errors=True)
            shutil.copytree(folder / "disturbed", folder / "state")
        runs.whole("disturbed")
        compare(expected, files_of(folder / "disturbed"), folder)
    whole = Disk(traced)
    if contents(disk.top) != contents(whole.top):
        raise Failed("the calls are not understood: they do not lead to the files that are there")
    print(f"power lost at {len(moments)} of {len(calls)} calls, "
          f"{sum(name in ('fsync', 'fdatasync', 'syncfs') for name, _, _ in calls)} of them syncs: "
          "the same files each time", flush=True)  # fmt: skip
    return len(calls)


def contents(node: Node) -> object:
    if node.is_folder:
        return {name: contents(entry) for name, entry in node.entries.items()}
    return bytes(node.content)


def check(args: argparse.Namespace, folder: Path) -> None:
    rng = random.Random(args.seed)
    shutil.rmtree(folder, ignore_errors=True)
    runs = Runs(args, folder)
    make_inputs(folder, rng, args.documents)
    cut_power(args, folder, runs, (args.cuts + 1) // 2, rng)
    runs.whole("begun")
    for path in itertools.islice(sorted((folder / "in").rglob("*.pgm")), 0, None, 3):
        path.write_bytes(pgm(str(rng.randrange(10**6))))
    for path in itertools.islice(sorted((folder / "in").rglob("*.tif")), 0, None, 2):
        path.write_bytes(b"II*\0")
    make_inputs(folder, rng, args.documents // 3)
    cut_power(args, folder, runs, args.cuts // 2, rng)


def main() -> int:
    parser = options_of(__doc__, documents=60)
    parser.add_argument("--cuts", type=int, default=100, metavar="N", help="(%(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep the state before each last run, as DIR/state")
    return exit_code_of(parser.parse_args(), check)


if __name__ == "__main__":
    sys.exit(main())
