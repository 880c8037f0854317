#!/usr/bin/env python3
"""What a format costs: CPU time and size a page of `platen export`, one format at a time.

    tools/eval/format_costs.py --platen build/bin/platen [--runs 3] [--json FILE] INPUT...

Reads INPUT once into a temporary folder, then exports each format alone, one after the other, --runs times. The time is the
CPU time of the process and its children, less that of an export of one blank page; medians of the runs.
"""
import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

FORMATS = ["txt", "md", "json", "tsv", "hocr", "alto", "page", "pdf", "html"]


def core_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def outputs(folder):
    return [path for path in folder.rglob("*") if path.is_file() and ".platen" not in path.parts
            and path.name not in ("run.json", "failures.jsonl")]


def machine():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")]
    return {"cpu": names[0] if names else platform.machine(), "cpus": len(os.sched_getaffinity(0))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--platen", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out, blank = Path(folder) / "out", Path(folder) / "blank"
        (Path(folder) / "blank.pgm").write_bytes(b"P5 100 100 255\n" + b"\xff" * 10000)
        core_seconds([arguments.platen, "ocr", str(Path(folder) / "blank.pgm"), "-o", str(blank), "-q"])
        reading = core_seconds([arguments.platen, "ocr", *arguments.inputs, "-o", str(out), "--format", "txt", "-q"])
        pages = json.loads((out / "run.json").read_text(encoding="utf-8"))["totals"]["pages_read"]
        times, starts, sizes = {name: [] for name in FORMATS}, [], {}
        for _ in range(arguments.runs):
            for name in FORMATS:
                for path in outputs(out) + outputs(blank):
                    path.unlink()
                times[name].append(core_seconds([arguments.platen, "export", str(out), "--format", name]))
                sizes[name] = sum(path.stat().st_size for path in outputs(out))
                starts.append(core_seconds([arguments.platen, "export", str(blank), "--format", "txt"]))
    start = statistics.median(starts)
    result = {"machine": machine(), "pages": pages, "runs": arguments.runs, "start_core_ms": round(start * 1000, 1),
              "reading_core_ms_a_page": round(reading * 1000 / pages, 1), "formats": {}}
    for name in FORMATS:
        costs = [(seconds - start) * 1000 / pages for seconds in times[name]]
        result["formats"][name] = {"core_ms_a_page": round(statistics.median(costs), 2),
                                   "each_run": [round(cost, 2) for cost in costs],
                                   "kb_a_page": round(sizes[name] / 1000 / pages, 1)}
        print(f"{name:5} {statistics.median(costs):6.1f} ms  {sizes[name] / 1000 / pages:7.1f} kB a page")
    print(f"taken off for the start: {start * 1000:.0f} ms; reading: {reading * 1000 / pages:.0f} ms a page, with the start")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
