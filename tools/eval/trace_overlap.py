#!/usr/bin/env python3
"""How long stages of different pages ran at the same time, from a trace of platen ocr --trace FILE.

    tools/eval/trace_overlap.py TRACE

Prints, for every two stages, the milliseconds in which a span of one and a span of the other overlap
and belong to different pages. Decoding rounds serve many pages and count against every stage.
"""
import json
import sys
from itertools import combinations_with_replacement

STAGES = ["decode_image", "layout", "preprocess", "vision_encode", "prefill", "speculative_decode"]


def overlap_ms(first: list, second: list) -> float:
    total = 0.0
    for i, a in enumerate(first):
        for b in second[i + 1:] if first is second else second:
            if a["name"] != b["name"]:
                end = min(a["ts"] + a["dur"], b["ts"] + b["dur"])
                total += max(0.0, end - max(a["ts"], b["ts"]))
    return total / 1000


def main() -> None:
    trace = json.load(open(sys.argv[1], encoding="utf-8"))
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    spans = {stage: [e for e in events if e.get("ph") == "X" and e["cat"] == stage] for stage in STAGES}
    for stage in STAGES:
        print(f"{stage:20} {len(spans[stage]):5} spans {sum(e['dur'] for e in spans[stage]) / 1000:9.1f} ms")
    print("overlap of different pages, ms")
    for a, b in combinations_with_replacement(STAGES, 2):
        print(f"  {a:20} {b:20} {overlap_ms(spans[a], spans[b]):9.1f}")


if __name__ == "__main__":
    main()
