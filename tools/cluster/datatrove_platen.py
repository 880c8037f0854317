#!/usr/bin/env python3
"""Steps of a datatrove pipeline that read an archive: a shard is a task, of whatever executor.

    datatrove_platen.py --shards 40 --workers 8 --logs /archive/logs /archive/scans /archive/text [-- --threads 4]

runs them on this machine. For Slurm give the same two pipelines to SlurmPipelineExecutor: README.md.
"""
from __future__ import annotations

import argparse
import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep

from platen_shard import Job, JobError, NotFinished, run_shard


class ReadShard(PipelineStep):
    """Task `rank` reads shard rank + 1 of as many as there are tasks. One that has not finished is no completed task."""

    name = "platen"
    type = "OCR"

    def __init__(self, job: Job):
        super().__init__()
        self.job = job

    def run(self, data=None, rank: int = 0, world_size: int = 1):
        result = run_shard(self.job, rank + 1, world_size)
        self.stat_update("shards with failures" if result.exit_code else "shards without failures")
        return data


class ReadRest(ReadShard):
    """The run over everything, as a pipeline of one task behind the shards."""

    def run(self, data=None, rank: int = 0, world_size: int = 1):
        if rank == 0:
            result = run_shard(self.job)
            self.stat_update("failures left" if result.exit_code else "all read")
        return data


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("options", nargs="*", help="of platen ocr, behind --")
    parser.add_argument("--shards", type=int, required=True, help="several for each worker")
    parser.add_argument("--workers", type=int, required=True, help="shards that are read at once")
    parser.add_argument("--logs", required=True, help="folder of datatrove: what is completed is not started again")
    words = parser.parse_args()
    job = Job((words.input,), words.output, tuple(words.options))
    try:
        LocalPipelineExecutor([ReadShard(job)], tasks=words.shards, workers=words.workers, logging_dir=words.logs).run()
        return run_shard(job).exit_code
    except (JobError, NotFinished) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, JobError) else 3


if __name__ == "__main__":
    sys.exit(main())
