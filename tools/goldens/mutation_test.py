#!/usr/bin/env python3
"""Do the golden tests bite? Puts one likely mistake after another into a copy of the sources.

    tools/goldens/mutation_test.py --work DIR [--only NAME ...] [--jobs N] [--markdown FILE]

For every mistake of mutations.py: copies the tree to DIR/source, applies the edit, builds the golden
tests in DIR/build and runs them. Prints which tests failed and by how many tolerances at worst; a
mistake that no test catches makes the exit status 1. Needs what building platen needs; about half a
minute each.
"""
import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mutations import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
BINARIES = ["golden_forward_test", "golden_decoding_test", "image_processor_test"]
COPIED = ["CMakeLists.txt", "LICENSE", "README.md", "cmake", "configs", "model", "stages", "pipeline", "tests", "apps", "bench",
          "assets", "docs", "tools"]


LAUNCHER = shutil.which("ccache") or ""


def apply(source: Path, edits: list) -> None:
    for file, find, replace in edits:
        path = source / file
        text = path.read_text()
        if text.count(find) != 1:
            raise SystemExit(f"{file}: the text to mutate occurs {text.count(find)} times:\n{find}")
        path.write_text(text.replace(find, replace))


def restore(source: Path, edits: list) -> None:
    for file in {edit[0] for edit in edits}:
        shutil.copy(ROOT / file, source / file)


def build(work: Path, jobs: int) -> str:
    done = subprocess.run(["ninja", "-C", str(work / "build"), f"-j{jobs}", *BINARIES],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout[-2000:]


def run_tests(work: Path) -> tuple:
    """(failed test names, largest miss in tolerances, exact comparisons that failed)."""
    failed, worst, exact = set(), 0.0, 0
    for binary in BINARIES:
        out = subprocess.run([str(work / "build/tests" / binary)], capture_output=True, text=True).stdout
        for name in re.findall(r"\[  FAILED  \] ([A-Z][\w/.]+)", out):
            failed.add(re.sub(r"^\w+/|/\w+$", "", name))
        for ratio in re.findall(r"\(([0-9.e+]+) x\)", out):
            worst = max(worst, float(ratio))
        exact += len(re.findall(r"Expected equality", out))
    return sorted(failed), worst, exact


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    source = options.work / "source"
    source.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            # New times, so that what the run before left is built again.
            shutil.copytree(ROOT / name, source / name, copy_function=shutil.copy, dirs_exist_ok=True)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
    subprocess.run(["cmake", "-S", str(source), "-B", str(options.work / "build"), "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER_LAUNCHER=" + LAUNCHER], check=True, stdout=subprocess.DEVNULL)
    rows, missed = [], []
    for name, (meaning, edits) in [("none", ("the sources as they are", [])), *MUTATIONS.items()]:
        if options.only and name not in options.only:
            continue
        apply(source, edits)
        error = build(options.work, options.jobs)
        failed, worst, exact = ([], 0.0, 0) if error else run_tests(options.work)
        restore(source, edits)
        caught = bool(failed)
        if error or caught == (name == "none"):
            missed.append(name)
        result = f"does not build: {error}" if error else (
            f"{', '.join(failed)}: {worst:.3g} tolerances, {exact} exact comparisons"
            if failed else "all tests pass")
        print(f"{name}: {result}", flush=True)
        rows.append(f"| {name} | {meaning} | {', '.join(failed) or '–'} | {worst:.3g} | {exact} |")
    if options.markdown:
        head = ["| mistake | meaning | caught by | worst miss, tolerances | exact comparisons failed |",
                "|---|---|---|---|---|"]
        options.markdown.write_text("\n".join(head + rows) + "\n")
    if missed:
        print(f"not as expected: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
