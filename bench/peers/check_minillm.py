#!/usr/bin/env python3
"""Does llama.cpp compute with the files of make_minillm_gguf.py what platen computes with the snapshot?

    check_minillm.py --platen build/bin/platen --work DIR [--tokens N]

Run in the environment of compare.py, after its --setup. Both read the same prompts in f32 and go on with
their likeliest tokens. Prints the largest difference between two logits behind each prompt and the first
token that differs; the exit code is 1 if a logit differs by 0.01 of the largest one or a token does.
llama.cpp's own logits differ by 0.003 of the largest one, by whether it reads a prompt at once or token by
token; with rotary pairs in the wrong order they differ by more than ten times as much.
"""
import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import llama_cpp as llama
import numpy as np

import llama_peer

PROMPTS = ["Once upon a time", "What is the capital of Poland?", "0123456789 " * 20]
LARGEST_ERROR = 1e-2  # of the largest logit


def of_platen(options, prompt: str):
    """Prompt ids, logits behind them, tokens."""
    with tempfile.TemporaryDirectory() as dump:
        command = [options.platen, "forward", options.work / "minillm-snapshot", "--precision", "f32", "--prompt", prompt,
                   "--max-new-tokens", str(options.tokens), "--draft-length", "0", "--ignore-stop", "--dump", dump]
        subprocess.run(command, check=True, capture_output=True)
        folder = Path(dump)
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return np.load(folder / "input_ids.npy").tolist(), np.load(folder / "logits_last.npy"), result["tokens"]


def of_llama(text: llama_peer.Text, prompt: list, tokens: int):
    text.clear()
    text.run([(token, i, 0, i + 1 == len(prompt)) for i, token in enumerate(prompt)])
    logits = text.logits(len(prompt) - 1).copy()
    chosen = [text.next[0]]
    for i in range(tokens - 1):
        text.step(1, len(prompt) + i)
        chosen.append(text.next[0])
    return logits, chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platen", type=Path, required=True, help="the program")
    parser.add_argument("--work", type=Path, required=True, help="folder of compare.py --setup")
    parser.add_argument("--tokens", type=int, default=48)
    options = parser.parse_args()
    llama.llama_log_set(llama_peer.silent, ctypes.c_void_p(0))
    llama.llama_backend_init()
    text = llama_peer.Text(options.work / "minillm-F32.gguf", threads=1)
    good = True
    for prompt in PROMPTS:
        ids, ours, our_tokens = of_platen(options, prompt)
        theirs, their_tokens = of_llama(text, ids, options.tokens)
        error, largest = np.abs(ours - theirs).max(), np.abs(ours).max()
        same = next((i for i, pair in enumerate(zip(our_tokens, their_tokens)) if pair[0] != pair[1]), options.tokens)
        print(f"{len(ids)} tokens of prompt: logits differ by {error:.2g} at most, the largest is {largest:.3g}; "
              f"{same} of {options.tokens} tokens equal")
        good = good and error <= LARGEST_ERROR * largest and same == options.tokens
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
