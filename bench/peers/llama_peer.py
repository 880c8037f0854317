#!/usr/bin/env python3
"""Times llama.cpp on a model's shapes and prints rows as JSON; run by compare.py in its environment.

    llama_peer.py --cache DIR --threads N --type Q8_0|BF16 [--text NAME] [--phases vision,prefill,decode]
                  [--repetitions N]

DIR holds the files of make_gguf.py (NAME text, the default) or make_minillm_gguf.py (minillm). Uses the C
interface through llama-cpp-python's bindings: one llama_decode for a whole prompt or for one step of all
sequences, mtmd_encode_chunk for an image. Every sequence has a prompt of its own and goes on with its
likeliest tokens, as in `platen bench model`: those that were alike would all go to the same experts.
"""
import argparse
import ctypes
import json
import statistics
import time
from pathlib import Path

import llama_cpp as llama
import numpy as np
from llama_cpp import mtmd_cpp as mtmd

from shapes import DECODE_PROMPT, IMAGES, PROMPTS, SEQUENCES, STEPS

PATCH = 14  # pixels
TOKENS = (300, 400)  # of prompts; ordinary ones


@llama.llama_log_callback
def silent(level, text, data):
    pass


def timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class Text:
    def __init__(self, path: Path, threads: int):
        parameters = llama.llama_model_default_params()
        self.model = llama.llama_model_load_from_file(str(path).encode(), parameters)
        context = llama.llama_context_default_params()
        context.n_ctx = max(SEQUENCES) * 512
        context.n_batch = context.n_ubatch = max(PROMPTS)
        context.n_seq_max = max(SEQUENCES)
        context.n_threads = context.n_threads_batch = threads
        self.context = llama.llama_init_from_model(self.model, context)
        if not self.model or not self.context:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        self.batch = llama.llama_batch_init(max(*PROMPTS, *SEQUENCES), 0, 1)
        self.vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.model))
        self.next = {}  # token of each sequence

    def run(self, entries: list) -> None:
        """One pass over (token, position, sequence, wants logits)."""
        self.batch.n_tokens = len(entries)
        for i, (token, position, sequence, logits) in enumerate(entries):
            self.batch.token[i] = token
            self.batch.pos[i] = position
            self.batch.n_seq_id[i] = 1
            self.batch.seq_id[i][0] = sequence
            self.batch.logits[i] = logits
        if llama.llama_decode(self.context, self.batch) != 0:
            raise RuntimeError("llama_decode failed")
        llama.llama_synchronize(self.context)
        for i, (_, _, sequence, logits) in enumerate(entries):
            if logits:
                self.next[sequence] = int(self.logits(i).argmax())

    def logits(self, row: int) -> np.ndarray:
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(self.context, row), (self.vocabulary,))

    def prefill(self, tokens: int, sequence: int = 0) -> None:
        prompt = np.random.default_rng(sequence).integers(*TOKENS, tokens).tolist()
        self.run([(token, i, sequence, i + 1 == tokens) for i, token in enumerate(prompt)])

    def step(self, sequences: int, position: int) -> None:
        self.run([(self.next[i], position, i, True) for i in range(sequences)])

    def clear(self) -> None:
        llama.llama_memory_clear(llama.llama_get_memory(self.context), True)


def time_prefill(text: Text, repetitions: int):
    for tokens in PROMPTS:
        seconds = []
        for _ in range(repetitions + 1):  # the first one warms up
            text.clear()
            seconds.append(timed(lambda: text.prefill(tokens)))
        yield "prefill", tokens, seconds[1:]


def time_decode(text: Text, repetitions: int):
    for sequences in SEQUENCES:
        text.clear()
        for sequence in range(sequences):
            text.prefill(DECODE_PROMPT, sequence)
        position, seconds = DECODE_PROMPT, []
        for _ in range(repetitions + 1):
            seconds.append(timed(lambda: [text.step(sequences, position + i) for i in range(STEPS)]) / STEPS)
            position += STEPS
        yield "decode", sequences, seconds[1:]


def image_chunk(context, rows: int, columns: int):
    """The tokenised image; the caller keeps both."""
    width, height = columns * PATCH, rows * PATCH
    pixels = np.random.default_rng(5).integers(0, 256, width * height * 3, np.uint8)
    bitmap = mtmd.mtmd_bitmap_init(width, height, pixels.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)))
    marker = mtmd.mtmd_default_marker()
    prompt = mtmd.mtmd_input_text(text=marker, text_len=len(marker), add_special=False, parse_special=True)
    chunks = mtmd.mtmd_input_chunks_init()
    bitmaps = (mtmd.mtmd_bitmap_p_ctypes * 1)(bitmap)
    if mtmd.mtmd_tokenize(context, chunks, ctypes.byref(prompt), bitmaps, 1) != 0:
        raise RuntimeError("mtmd_tokenize failed")
    for i in range(mtmd.mtmd_input_chunks_size(chunks)):
        chunk = mtmd.mtmd_input_chunks_get(chunks, i)
        if mtmd.mtmd_input_chunk_get_type(chunk) == mtmd.MTMD_INPUT_CHUNK_TYPE_IMAGE:
            if mtmd.mtmd_input_chunk_get_n_tokens(chunk) < rows * columns // 4:
                raise RuntimeError("the image was shrunk")
            return chunk
    raise RuntimeError("no image among the chunks")


def time_vision(text: Text, path: Path, threads: int, repetitions: int):
    parameters = mtmd.mtmd_context_params_default()
    parameters.use_gpu, parameters.n_threads, parameters.print_timings = False, threads, False
    parameters.warmup = False
    context = mtmd.mtmd_init_from_file(str(path).encode(), text.model, parameters)
    if not context:
        raise RuntimeError(f"llama.cpp cannot load {path}")
    for rows, columns in IMAGES:
        chunk = image_chunk(context, rows, columns)
        seconds = [timed(lambda: mtmd.mtmd_encode_chunk(context, chunk)) for _ in range(repetitions + 1)]
        yield "vision", rows * columns, seconds[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--type", required=True, choices=["Q8_0", "BF16"])
    parser.add_argument("--text", default="text", choices=["text", "minillm"])
    parser.add_argument("--phases", default="vision,prefill,decode")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    llama.llama_log_set(silent, ctypes.c_void_p(0))
    llama.llama_backend_init()
    text = Text(options.cache / f"{options.text}-{options.type}.gguf", options.threads)
    timers = {"vision": lambda: time_vision(text, options.cache / f"vision-{options.type}.gguf", options.threads,
                                            options.repetitions),
              "prefill": lambda: time_prefill(text, options.repetitions),
              "decode": lambda: time_decode(text, options.repetitions)}
    rows = []
    for phase in options.phases.split(","):
        for name, size, seconds in timers[phase]():
            median = statistics.median(seconds)
            rows.append({"engine": f"llama.cpp ({llama.__version__}) {options.type}", "phase": name, "size": size,
                         "threads": options.threads,
                         "seconds": {"median": median, "min": min(seconds), "max": max(seconds)},
                         "per_second": size / median})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
