#!/usr/bin/env python3
"""Reads an archive with the machines of a Ray cluster: a shard is a row, and one task of Ray Data reads it.

    ray_platen.py --shards 40 --cpus 4 /archive/scans /archive/text [-- --format txt,pdf]
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import ray

from platen_shard import Job, NotFinished, run_shard

HERE = {"working_dir": str(Path(__file__).resolve().parent), "excludes": ["test_*"]}  # the tasks import from here


def read_row(row: dict, job: Job, parts: int) -> dict:
    try:
        done = run_shard(job, row["part"], parts)
        return {"shard": done.shard, "exit_code": done.exit_code, "message": done.message}
    except NotFinished as error:  # the other shards go on; the run over everything takes it up
        return {"shard": f"{row['part']}/{parts}", "exit_code": 3, "message": str(error)}


def read(job: Job, shards: int, cpus: int) -> list[dict]:
    """What became of each shard, and last of the run over everything. platen gets `cpus` threads."""
    job = Job(job.inputs, job.out, ("--threads", str(cpus), *job.options), job.program, job.tries, job.wait_s)
    parts = ray.data.from_items([{"part": part} for part in range(1, shards + 1)], override_num_blocks=shards)
    rows = parts.map(read_row, fn_args=(job, shards), num_cpus=cpus).take_all()
    last = ray.remote(run_shard).options(num_cpus=cpus).remote(job)
    rows.sort(key=lambda row: int(row["shard"].split("/")[0]))
    return [*rows, vars(ray.get(last))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", help="for all machines the same path")
    parser.add_argument("output")
    parser.add_argument("options", nargs="*", help="of platen ocr, behind --")
    parser.add_argument("--shards", type=int, required=True, help="several for each task that runs at once")
    parser.add_argument("--cpus", type=int, required=True, help="of a task, and threads of its platen")
    words = parser.parse_args()
    ray.init(runtime_env=HERE)
    rows = read(Job((words.input,), words.output, tuple(words.options)), words.shards, words.cpus)
    for row in rows:
        if row["exit_code"]:
            print(f"{row['shard'] or 'everything'}: exit code {row['exit_code']}: {row['message']}", file=sys.stderr)
    return rows[-1]["exit_code"]


if __name__ == "__main__":
    sys.exit(main())
