#!/usr/bin/env python3
"""platen beside OpenVINO on PP-DocLayoutV3, f32, in turn, on this machine.

    tools/random_layout_snapshot.py DIR
    bench/peers/compare_layout.py --platen build/bin/platen --model DIR [--threads N] [--rounds N] [--json FILE]

OpenVINO gets the network of transformers, traced, with the outputs that are needed (logits, boxes, order), so that it
may leave out what they do not depend on; its time is that of the network alone, platen's that of a page: resize,
network, order and rules for boxes. Each round times both, one page each, so that a machine whose speed drifts slows
both alike. Times are CPU seconds of the process and wall seconds. Stop other programs first; where that cannot be,
CPU seconds are the fairer figure.

Needs Python 3.9 with openvino, torch, transformers 5.23 and numpy.
"""
import argparse
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def openvino_network(model_dir: Path, threads: int):
    """The compiled network, and a function that runs one page."""
    import openvino
    import torch
    from transformers import PPDocLayoutV3ForObjectDetection

    class Needed(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, pixel_values):
            out = self.model(pixel_values=pixel_values)
            return out.logits, out.pred_boxes, out.order_logits

    model = PPDocLayoutV3ForObjectDetection.from_pretrained(str(model_dir), attn_implementation="eager", dtype=torch.float32).eval()
    size = json.loads((model_dir / "preprocessor_config.json").read_text())["size"]
    pixels = np.random.default_rng(1).random((1, 3, size["height"], size["width"]), np.float32)
    with torch.no_grad():
        example = torch.from_numpy(pixels)
        expected = Needed(model)(example)
        network = openvino.convert_model(Needed(model), example_input=example)
    network.reshape({network.inputs[0]: list(pixels.shape)})
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino.Core().compile_model(network, "CPU", settings)
    found = compiled(pixels)
    difference = max(float(np.abs(found[i] - e.numpy())[e.numpy() > -9999].max()) for i, e in enumerate(expected))
    print(f"OpenVINO {openvino.__version__}: largest difference from torch {difference:.2g}")
    return lambda: compiled(pixels), f"OpenVINO {openvino.__version__}"


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
    rows = {name: [], "platen": []}
    for _ in range(options.rounds):
        rows[name].append(timed(run))
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
