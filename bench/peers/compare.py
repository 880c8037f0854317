#!/usr/bin/env python3
"""platen beside llama.cpp and OpenVINO on a model's shapes, in turn, on this machine.

    bench/peers/compare.py --platen build/bin/platen --work DIR [--model glm-ocr|minillm] [--setup] [--peers LIST]
                           [--phases LIST] [--threads N] [--rounds N] [--repetitions N]
                           [--attention auto|f32|int8] [--json FILE]

--setup makes a virtual environment in DIR/venv with the packages of requirements.txt, compiles llama.cpp
(build_llama.py, 10 minutes), and writes a random snapshot for platen and files for llama.cpp (9 GB in all; minillm
1.5). Without it they must be there. Then every phase runs on one engine after the other, and all of that
--rounds times, so that a machine whose speed drifts slows all alike; the median of the rounds is
reported. Decoding is plain: platen drafts nothing here. Stop other programs first.

See README.md beside this file for what is compared. Needs Python 3.9; numpy for --setup.
"""
import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = {"llama-q8": ["llama_peer.py", "--type", "Q8_0"], "llama-bf16": ["llama_peer.py", "--type", "BF16"],
         "openvino": ["openvino_peer.py"]}
PHASES = ["vision", "prefill", "decode"]
SNAPSHOTS = {"glm-ocr": "snapshot", "minillm": "minillm-snapshot"}  # folders of --work


def setup(work: Path, model: str) -> None:
    venv = work / "venv"
    if not venv.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-r", HERE / "requirements.txt"], check=True)
    subprocess.run([python, HERE / "build_llama.py", work], check=True)
    snapshot = work / SNAPSHOTS[model]
    if not snapshot.exists():
        script = "random_snapshot.py" if model == "glm-ocr" else "random_minillm_snapshot.py"
        subprocess.run([python, ROOT / "tools" / script, snapshot], check=True)
    if model == "glm-ocr" and not (work / "vision-Q8_0.gguf").exists():
        subprocess.run([python, HERE / "make_gguf.py", work], check=True)
    if model == "minillm" and not (work / "minillm-Q8_0.gguf").exists():
        subprocess.run([python, HERE / "make_minillm_gguf.py", snapshot, work], check=True)


def run_peer(name: str, phase: str, options) -> list:
    command = [options.work / "venv" / "bin" / "python", HERE / PEERS[name][0], *PEERS[name][1:],
               "--cache", options.work, "--threads", str(options.threads), "--phases", phase,
               "--repetitions", str(options.repetitions)]
    if options.model == "minillm":
        command += ["--text", "minillm"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def run_platen(phase: str, options) -> list:
    snapshot = options.work / SNAPSHOTS[options.model]
    command = [options.platen, "bench", "model", "--json", "--model", snapshot, "--phases", phase,
               "--attention", options.attention, "--threads", str(options.threads),
               "--repetitions", str(options.repetitions)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    engine = f"platen {report['precision']}, {report['kernels']}, {report['attention']} attention"
    return [{**row, "engine": engine} for row in report["rows"]]


def median_rows(rounds: list) -> list:
    """One row for each engine, phase and size: the median of the rounds' medians, and their extremes."""
    groups = {}
    for row in rounds:
        groups.setdefault((row["phase"], row["size"], row["engine"]), []).append(row)
    rows = []
    for (phase, size, engine), found in groups.items():
        medians = [row["seconds"]["median"] for row in found]
        median = statistics.median(medians)
        rows.append({"phase": phase, "size": size, "engine": engine, "threads": found[0]["threads"],
                     "rounds": len(found), "per_second": size / median,
                     "seconds": {"median": median, "min": min(row["seconds"]["min"] for row in found),
                                 "max": max(row["seconds"]["max"] for row in found)}})
    return sorted(rows, key=lambda row: (PHASES.index(row["phase"]), row["size"], row["engine"]))


def print_table(rows: list) -> None:
    platen = {(row["phase"], row["size"]): row["seconds"]["median"] for row in rows
              if row["engine"].startswith("platen")}
    print("| phase | size | engine | threads | seconds (min..max) | per second | platen is faster by |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        seconds, ours = row["seconds"], platen.get((row["phase"], row["size"]))
        ratio = f"{seconds['median'] / ours:.2f}" if ours and not row["engine"].startswith("platen") else ""
        print(f"| {row['phase']} | {row['size']} | {row['engine']} | {row['threads']} "
              f"| {seconds['median']:.4f} ({seconds['min']:.4f}..{seconds['max']:.4f}) "
              f"| {row['per_second']:.1f} | {ratio} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platen", type=Path, required=True, help="the program")
    parser.add_argument("--work", type=Path, required=True, help="folder for environment, models and files")
    parser.add_argument("--setup", action="store_true", help="make what is missing in the folder first")
    parser.add_argument("--model", choices=list(SNAPSHOTS), default="glm-ocr")
    parser.add_argument("--peers", help="of " + ", ".join(PEERS) + "; OpenVINO has no minillm")
    parser.add_argument("--phases", help="of " + ", ".join(PHASES) + "; minillm has no vision")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--attention", choices=["auto", "f32", "int8"], default="auto", help="of platen's image encoder")
    parser.add_argument("--json", type=Path, help="also write every row to a file")
    options = parser.parse_args()
    minillm = options.model == "minillm"
    options.peers = options.peers or ",".join(p for p in PEERS if not (minillm and p == "openvino"))
    options.phases = options.phases or ",".join(p for p in PHASES if not (minillm and p == "vision"))
    options.work = options.work.resolve()
    if options.setup:
        options.work.mkdir(parents=True, exist_ok=True)
        setup(options.work, options.model)
    rounds = []
    for _ in range(options.rounds):
        for phase in options.phases.split(","):
            rounds += run_platen(phase, options)
            for peer in options.peers.split(","):
                rounds += run_peer(peer, phase, options)
    rows = median_rows(rounds)
    print_table(rows)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "rounds": rounds}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
