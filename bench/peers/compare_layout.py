#!/usr/bin/env python3
"""platen beside OpenVINO on PP-DocLayoutV3, f32, in turn, on this machine.

    tools/random_layout_snapshot.py DIR
    bench/peers/compare_layout.py --platen build/bin/platen --model DIR [--threads N] [--rounds N] [--json FILE]

OpenVINO gets the same network as a graph of its own operations (openvino_layout.py), batch norms and 1x1 branches folded
as platen folds them; its time is that of the network alone, platen's that of a page: resize, network, order and rules
for boxes. That both compute the same is checked first. Each round times both, one page each, so that a machine whose speed drifts slows
both alike. Times are CPU seconds of the process and wall seconds. Stop other programs first; where that cannot be,
CPU seconds are the fairer figure.

Needs Python 3.9 with openvino and numpy.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[2] / "assets" / "samples" / "pages" / "phototest.tif"


def openvino_network(model_dir: Path, threads: int):
    """A function that runs the network on one page, [1, 3, h, w], and the engine's name."""
    import openvino

    from openvino_layout import build
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino.Core().compile_model(build(model_dir), "CPU", settings)
    return lambda pixels: compiled(pixels), f"OpenVINO {openvino.__version__.split('-')[0]}"


def check(run, options) -> np.ndarray:
    """The pixels of a page, on which both engines must give the same logits; else there is nothing to compare."""
    with tempfile.TemporaryDirectory() as dump:
        subprocess.run([options.platen, "forward", options.model, "--image", PAGE, "--dump", dump], check=True, capture_output=True)
        load = lambda name: np.load(Path(dump) / f"{name}.npy")
        pixels = np.ascontiguousarray(load("resized").transpose(2, 0, 1)[None].astype(np.float32) / 255)
        result = run(pixels)
        for i, name in enumerate(("logits", "boxes")):
            expected = load(name)
            difference = np.abs(result[i].reshape(expected.shape) - expected).max() / np.abs(expected).max()
            print(f"{name}: largest difference {difference:.2g} of the largest value")
            if not difference < 0.01:
                raise SystemExit("the two engines do not compute the same")
    return pixels


def timed(work) -> dict:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return {"core_seconds": time.process_time() - cpu, "seconds": time.perf_counter() - wall}


def platen_page(options) -> dict:
    command = [options.platen, "bench", "layout", "--layout-model", options.model, "--threads", str(options.threads),
               "--repetitions", "1", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"core_seconds": report["core_seconds"][0], "seconds": report["seconds"][0], "share": report["share"],
            "f32_gflops": report["peaks"]["f32_gflops"], "cpu": report["cpu"], "kernels": report["kernels"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platen", required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    run, name = openvino_network(options.model, options.threads)
    pixels = check(run, options)
    rows = {name: [], "platen": []}
    for _ in range(options.rounds):
        rows[name].append(timed(lambda: run(pixels)))
        rows["platen"].append(platen_page(options))
    report = {"threads": options.threads, "load_average": os.getloadavg(), "rows": rows}
    for engine, values in rows.items():
        cpu = [v["core_seconds"] for v in values]
        print(f"{engine:20} core-seconds a page: median {statistics.median(cpu):.3f} ({min(cpu):.3f} .. {max(cpu):.3f})")
    ratio = statistics.median(p["core_seconds"] for p in rows["platen"]) / statistics.median(o["core_seconds"] for o in rows[name])
    report["ratio"] = ratio
    print(f"platen / OpenVINO: {ratio:.3f}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
