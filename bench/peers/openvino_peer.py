#!/usr/bin/env python3
"""Times OpenVINO on GLM-OCR's shapes and prints rows as JSON; run by compare.py in its environment.

    openvino_peer.py --cache DIR --threads N [--phases vision,prefill,decode] [--repetitions N]

int8: the encoder quantised after training by nncf (weights and activations), the decoder with int8
weights and activations quantised on the fly. Each runs with the inference precision hints f32 and bf16,
and the faster one is the row's. The quantised models are kept in DIR.
"""
import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
import openvino as ov

import openvino_models as models
from shapes import DECODE_PROMPT, IMAGES, PROMPTS, SEQUENCES, STEPS


def quantised(path: Path, make) -> Path:
    if not path.exists():
        ov.save_model(make(), path, compress_to_fp16=False)
    return path


def vision_inputs(rows: int, columns: int) -> dict:
    rng = np.random.default_rng(3)
    patches = rows * columns
    dim = models.VISION["width"] // models.VISION["heads"]
    angles = rng.uniform(0, 3, (patches, dim)).astype(np.float32)
    return {"pixels": rng.standard_normal((1, patches, models.VISION["patch_values"]), np.float32),
            "cos": np.cos(angles), "sin": np.sin(angles)}


def make_vision() -> ov.Model:
    import nncf
    samples = nncf.Dataset([vision_inputs(8, 8), vision_inputs(8, 16)])
    return nncf.quantize(models.vision_model(), samples, model_type=nncf.ModelType.TRANSFORMER, subset_size=2)


def make_decoder() -> ov.Model:
    import nncf
    return nncf.compress_weights(models.Decoder().model(), mode=nncf.CompressWeightsMode.INT8_SYM)


def decoder_inputs(batch: int, length: int, cached: int) -> dict:
    keys = np.arange(cached + length)
    queries = np.arange(cached, cached + length)
    mask = np.where(keys[None, :] <= queries[:, None], 0.0, -1e9).astype(np.float32)
    angles = np.random.default_rng(4).uniform(0, 3, (batch, 1, length, models.TEXT["head_dim"])).astype(np.float32)
    return {"tokens": np.full((batch, length), 100, np.int64), "cos": np.cos(angles), "sin": np.sin(angles),
            "mask": np.ascontiguousarray(np.broadcast_to(mask, (batch, 1, *mask.shape))),
            "beam_idx": np.arange(batch, dtype=np.int32)}


def timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def time_vision(request, repetitions: int):
    for rows, columns in IMAGES:
        inputs = vision_inputs(rows, columns)
        request.infer(inputs)
        yield "vision", rows * columns, [timed(lambda: request.infer(inputs)) for _ in range(repetitions)]


def time_prefill(request, repetitions: int):
    for length in PROMPTS:
        seconds = []
        for _ in range(repetitions + 1):  # the first one warms up
            request.reset_state()
            seconds.append(timed(lambda: request.infer(decoder_inputs(1, length, 0))))
        yield "prefill", length, seconds[1:]


def time_decode(request, repetitions: int):
    for batch in SEQUENCES:
        request.reset_state()
        request.infer(decoder_inputs(batch, DECODE_PROMPT, 0))
        cached, seconds = DECODE_PROMPT, []
        for _ in range(repetitions + 1):
            steps = [decoder_inputs(batch, 1, cached + i) for i in range(STEPS)]
            seconds.append(timed(lambda: [request.infer(step) for step in steps]) / STEPS)
            cached += STEPS
        yield "decode", batch, seconds[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--phases", default="vision,prefill,decode")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    timers = {"vision": (time_vision, make_vision), "prefill": (time_prefill, make_decoder),
              "decode": (time_decode, make_decoder)}
    core, best = ov.Core(), {}
    for phase in options.phases.split(","):
        timer, make = timers[phase]
        path = quantised(options.cache / f"openvino_{make.__name__[5:]}_int8.xml", make)
        for hint in ("f32", "bf16"):
            compiled = core.compile_model(path, "CPU", {
                "INFERENCE_NUM_THREADS": options.threads, "INFERENCE_PRECISION_HINT": hint,
                "DYNAMIC_QUANTIZATION_GROUP_SIZE": "128", "PERFORMANCE_HINT": "LATENCY"})
            for name, size, seconds in timer(compiled.create_infer_request(), options.repetitions):
                median = statistics.median(seconds)
                row = {"engine": f"OpenVINO {ov.__version__.split('-')[0]} int8, {hint}", "phase": name, "size": size,
                       "threads": options.threads,
                       "seconds": {"median": median, "min": min(seconds), "max": max(seconds)},
                       "per_second": size / median}
                if (name, size) not in best or median < best[name, size]["seconds"]["median"]:
                    best[name, size] = row
    print(json.dumps(list(best.values())))


if __name__ == "__main__":
    main()
