#!/usr/bin/env python3
"""Checks a trace of platen (--trace FILE) and sums it up.

    tools/eval/check_trace.py TRACE [--shapes N]

Exit code 1 with a reason if the file is not JSON, an event lacks a field, spans of a track overlap
without one containing the other, or a worker is neither busy nor idle for longer than a millisecond.
Else prints each worker's busy and idle time and the products that took longest, by shape.

Needs Python 3.9.
"""
import argparse
import json
import sys
from collections import defaultdict

FIELDS = {"X": ("name", "cat", "pid", "tid", "ts", "dur", "args"), "M": ("name", "pid", "tid", "args")}
WORKERS = 2  # the process number of the workers' tracks
ROUNDING = 0.002  # microseconds
LONGEST_GAP = 1000.0  # microseconds that a worker may be neither busy nor idle


def load(path: str) -> list:
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    for event in events:
        missing = [field for field in FIELDS[event["ph"]] if field not in event]
        if missing:
            raise ValueError(f"an event lacks {', '.join(missing)}: {event}")
        if event["ph"] == "X" and event["dur"] < 0:
            raise ValueError(f"a span ends before it begins: {event}")
    return events


def tracks_of(events: list) -> dict:
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    for spans in tracks.values():
        spans.sort(key=lambda span: (span["ts"], -span["dur"]))
    return tracks


def check_nesting(spans: list) -> None:
    stack = []
    for span in spans:
        end = span["ts"] + span["dur"]
        while stack and stack[-1] <= span["ts"] + ROUNDING:
            stack.pop()
        if stack and end > stack[-1] + ROUNDING:
            raise ValueError(f"a span leaves the one it began in: {span}")
        stack.append(end)


def check_worker(number: int, spans: list) -> tuple:
    """Busy and idle microseconds of a worker; both cover its time."""
    covered, busy, idle = 0.0, 0.0, 0.0
    for span in spans:
        end = span["ts"] + span["dur"]
        if span["ts"] - covered > LONGEST_GAP:
            raise ValueError(f"worker {number} is neither busy nor idle from {covered} to {span['ts']}")
        if end <= covered:
            continue  # inside another span
        if span["cat"] == "idle":
            idle += span["dur"]
        else:
            busy += end - max(covered, span["ts"])
        covered = end
    return busy, idle


def print_shapes(events: list, most: int) -> None:
    shapes = defaultdict(lambda: [0, 0.0])
    for event in events:
        if event["ph"] == "X" and event["cat"] == "gemm":
            shape = event["args"]
            entry = shapes[shape["precision"], shape["rows"], shape["n"], shape["k"]]
            entry[0] += 1
            entry[1] += event["dur"]
    print(f"{'products':8} {'rows':>7} {'n':>7} {'k':>7} {'calls':>8} {'ms':>10} {'GOPS':>8}")
    longest = sorted(shapes.items(), key=lambda item: -item[1][1])
    for (precision, rows, n, k), (calls, microseconds) in longest[:most]:
        gops = 2e-3 * calls * rows * n * k / max(microseconds, 1e-9)
        print(f"{precision:8} {rows:7} {n:7} {k:7} {calls:8} {microseconds / 1000:10.1f} {gops:8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--shapes", type=int, default=20, help="products to list (default 20)")
    options = parser.parse_args()
    try:
        events = load(options.trace)
        tracks = tracks_of(events)
        workers = {}
        for (process, number), spans in sorted(tracks.items()):
            check_nesting(spans)
            if process == WORKERS:
                workers[number] = check_worker(number, spans)
    except (ValueError, KeyError) as error:
        sys.exit(f"{options.trace}: {error}")
    print(f"{len(events)} events, {len(tracks)} tracks: valid")
    for number, (busy, idle) in workers.items():
        share = idle / max(busy + idle, 1e-9)
        print(f"worker {number}: busy {busy / 1000:.1f} ms, idle {idle / 1000:.1f} ms ({100 * share:.1f} %)")
    print_shapes(events, options.shapes)


if __name__ == "__main__":
    main()
