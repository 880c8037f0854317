#!/usr/bin/env python3
"""How many shards? Simulates workers that read the shards of an archive, fail, and go on.

Documents have sizes of a heavy-tailed distribution (Pareto, cut at --largest times the mean) and go to shards at random, as
the hash of their names sends them. A free worker takes the next shard, pays its start, and reads. It fails at random
(exponential); the pages in flight are lost, the shard is put back, and both are there again after --requeue. At the end one
worker makes the run over everything while the others wait. Efficiency is the time of reading over workers x makespan.

The same seed gives the same figures and the same files. Needs Python 3.9 and numpy, and matplotlib for --plot.
"""
from __future__ import annotations

import argparse
import heapq
import json
import math
import secrets
import statistics
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy

EXAMPLE = """example: a million pages on 16 workers of 4 cores
  simulate.py --workers 16 --pages 1e6 --documents 1e5 --seconds-per-page 0.06 --start 0.1 --start-per-document 2e-5 \\
      --last-run-per-document 5e-5 --tail 1.3 --largest 100 --mtbf none,24h --requeue 120 --lost 2 \\
      --shards-per-worker 1,2,4,8,16,32 --repeats 20 --plot shards.svg"""
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
COLOURS = ("#1f4e79", "#d95f02", "#3a7d44", "#7b3294")
Draw = Callable[[], float]  # seconds until the next failure of a worker that begins a try


@dataclass
class Spent:
    """Worker seconds by what they went to; together they are workers x makespan."""

    reading: float = 0.0
    starts: float = 0.0
    lost: float = 0.0  # pages in flight when a worker failed
    waiting: float = 0.0  # for the requeue, for a shard, and during the run over everything

    def add(self, other: Spent) -> None:
        for name, seconds in asdict(other).items():
            setattr(self, name, getattr(self, name) + seconds)

    def total(self) -> float:
        return sum(asdict(self).values())


@dataclass(frozen=True)
class Cluster:
    workers: int
    start: float  # seconds of a try before its first page
    requeue: float  # seconds until a failed worker and its shard are there again
    lost: float  # seconds of reading that a failure costs at most
    last_run: float  # seconds of the run over everything


@dataclass
class Outcome:
    makespan: float = 0.0
    failures: int = 0
    spent: Spent = field(default_factory=Spent)

    def efficiency(self) -> float:
        return self.spent.reading / self.spent.total()


def attempt(work: float, cluster: Cluster, until_failure: float) -> tuple[float, float | None, Spent]:
    """A try: its length, the reading that is left of the shard (None: it is finished), what the time was spent on."""
    if until_failure >= cluster.start + work:
        return cluster.start + work, None, Spent(reading=work, starts=cluster.start)
    read = max(0.0, until_failure - cluster.start)
    lost = min(cluster.lost, read)
    return until_failure, work - (read - lost), Spent(read - lost, min(until_failure, cluster.start), lost)


def simulate(shards: Sequence[float], cluster: Cluster, draw: Draw) -> Outcome:
    """`shards`: seconds of reading of each, in the order in which they are given out."""
    ready, idle, now, outcome = deque(shards), cluster.workers, 0.0, Outcome()
    returns: list[tuple[float, int, float | None]] = []  # when a worker is back, a number for ties, what is left
    tries = 0
    while ready or returns:
        while idle and ready:
            length, left, spent = attempt(ready.popleft(), cluster, draw())
            outcome.spent.add(spent)
            outcome.failures += left is not None
            tries += 1
            heapq.heappush(returns, (now + length + (0.0 if left is None else cluster.requeue), tries, left))
            idle -= 1
        now, _, left = heapq.heappop(returns)
        idle += 1
        if left is not None:
            ready.append(left)
    outcome.makespan = now + cluster.last_run
    outcome.spent.waiting = outcome.makespan * cluster.workers - outcome.spent.total()
    return outcome


def document_sizes(pages: float, documents: int, tail: float, largest: float, random: numpy.random.Generator) -> numpy.ndarray:
    """Sizes of which a share x^-tail is above x times the smallest, none above about `largest` times the mean; their sum is
    `pages`.
    """
    cut = largest * tail / (tail - 1)  # the largest over the smallest
    chance = random.random(documents) * (1 - cut**-tail)
    sizes = (1 - chance) ** (-1 / tail)
    return sizes * (pages / sizes.sum())


def shard_sizes(sizes: numpy.ndarray, shards: int, random: numpy.random.Generator) -> numpy.ndarray:
    return numpy.bincount(random.integers(0, shards, len(sizes)), weights=sizes, minlength=shards)


def failures(mean: float, random: numpy.random.Generator) -> Draw:
    return (lambda: math.inf) if math.isinf(mean) else (lambda: random.exponential(mean))


def one(settings: argparse.Namespace, start_per_document: float, mtbf: float, per_worker: int, repeat: int) -> Outcome:
    """Each repetition has an archive of its own, the same for all numbers of shards and all rates of failures."""
    archive = numpy.random.default_rng([settings.seed, repeat])
    sizes = document_sizes(settings.pages, settings.documents, settings.tail, settings.largest, archive)
    chance = numpy.random.default_rng([settings.seed, repeat, per_worker])
    shards = shard_sizes(sizes, settings.workers * per_worker, chance) * settings.seconds_per_page
    cluster = Cluster(settings.workers, settings.start + start_per_document * settings.documents, settings.requeue,
                      settings.lost, settings.last_run_per_document * settings.documents)
    return simulate(shards.tolist(), cluster, failures(mtbf, chance))


def summary(outcomes: Sequence[Outcome]) -> dict:
    spans = [outcome.makespan for outcome in outcomes]
    shares = {name: statistics.fmean(asdict(outcome.spent)[name] / outcome.spent.total() for outcome in outcomes)
              for name in asdict(outcomes[0].spent)}
    return {"makespan_s": {"median": statistics.median(spans), "min": min(spans), "max": max(spans)},
            "efficiency": statistics.median(outcome.efficiency() for outcome in outcomes),
            "failures": statistics.fmean(outcome.failures for outcome in outcomes), "shares": shares}


def run(settings: argparse.Namespace) -> list[dict]:
    return [{"start_per_document_s": start, "mtbf": name, "shards_per_worker": per_worker,
             **summary([one(settings, start, mtbf, per_worker, repeat) for repeat in range(settings.repeats)])}
            for start, name, mtbf in scenarios(settings) for per_worker in settings.shards_per_worker]


def scenarios(settings: argparse.Namespace) -> list[tuple[float, str, float]]:
    return [(start, name, mtbf) for start in settings.start_per_document for name, mtbf in settings.mtbf]


def rows_of(rows: list[dict], start: float, mtbf: str) -> list[dict]:
    return [row for row in rows if row["start_per_document_s"] == start and row["mtbf"] == mtbf]


def least(settings: argparse.Namespace) -> float:
    """Seconds with perfect shares, no starts and no failures."""
    return settings.pages * settings.seconds_per_page / settings.workers


def table(settings: argparse.Namespace, rows: list[dict]) -> str:
    lines = ["start/document  mtbf    shards/worker  makespan h: median (min to max)  "
             "efficiency  starts  lost  waiting  failures"]
    for row in rows:
        hours = {name: seconds / 3600 for name, seconds in row["makespan_s"].items()}
        shares = row["shares"]
        lines.append(f"{row['start_per_document_s']:<15g} {row['mtbf']:<7} {row['shards_per_worker']:>13}  "
                     f"{hours['median']:>10.3f} ({hours['min']:.3f} to {hours['max']:.3f})".ljust(71)
                     + f"{row['efficiency']:>9.1%}  {shares['starts']:>6.1%} {shares['lost']:>5.1%} "
                     f"{shares['waiting']:>8.1%}  {row['failures']:>8.1f}")
    return "\n".join([*lines, f"least possible: {least(settings) / 3600:.3f} h"])


def plot(settings: argparse.Namespace, rows: list[dict], file: Path) -> None:
    """At most four lines: combinations of --start-per-document and --mtbf; the shares are those of the last."""
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "platen", "svg.fonttype": "path", "font.size": 9})
    figure, (spans, shares) = plt.subplots(1, 2, figsize=(9.2, 3.7), layout="constrained")
    draw_makespans(spans, settings, rows)
    draw_shares(shares, settings, rows)
    figure.savefig(file, dpi=130, metadata={"Software": None} if file.suffix == ".png" else {"Date": None, "Creator": None})


def said(settings: argparse.Namespace, start: float, mtbf: str) -> str:
    """What tells a line from the others."""
    failures = "no failures" if mtbf == "none" else f"a worker fails every {mtbf}"
    starts = f"{start * 1e3:g} ms of start a document"
    if len(settings.mtbf) == 1:
        return starts
    return failures if len(settings.start_per_document) == 1 else f"{starts}, {failures}"


def draw_makespans(axes, settings: argparse.Namespace, rows: list[dict]) -> None:
    ideal = least(settings) / 3600
    for colour, (start, mtbf, _) in zip(COLOURS, scenarios(settings)):
        own = rows_of(rows, start, mtbf)
        x = [row["shards_per_worker"] for row in own]
        hours = {key: [row["makespan_s"][key] / 3600 for row in own] for key in ("median", "min", "max")}
        axes.fill_between(x, hours["min"], hours["max"], color=colour, alpha=0.15, linewidth=0)
        axes.plot(x, hours["median"], color=colour, marker="o", markersize=3.5, label=said(settings, start, mtbf))
    axes.axhline(ideal, color="#555555", linewidth=0.8, linestyle="--", label=f"least possible: {ideal:.2f} h")
    axes.set_xscale("log", base=2)
    axes.set_xticks(settings.shards_per_worker, [str(number) for number in settings.shards_per_worker])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("shards per worker")
    axes.set_ylabel("hours until all is read")
    axes.set_title(f"median of {settings.repeats}, from the least to the most", fontsize=9)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False, fontsize=8)


def draw_shares(axes, settings: argparse.Namespace, rows: list[dict]) -> None:
    start, mtbf, _ = scenarios(settings)[-1]
    own = rows_of(rows, start, mtbf)
    bottom = numpy.zeros(len(own))
    parts = {"reading": ("reading", "#9ecae1"), "starts": ("starts of shards", "#3a7d44"),
             "lost": ("lost with a worker", "#7b3294"), "waiting": ("waiting", "#d9d9d9")}
    for part, (label, colour) in parts.items():
        heights = numpy.array([row["shares"][part] * 100 for row in own])
        axes.bar(range(len(own)), heights, bottom=bottom, color=colour, label=label, width=0.75)
        bottom += heights
    axes.set_xticks(range(len(own)), [str(row["shards_per_worker"]) for row in own])
    axes.set_ylim(0, 100)
    axes.set_xlabel("shards per worker")
    axes.set_ylabel("% of the time of all workers")
    axes.set_title(f"what the time goes to: {said(settings, start, mtbf)}", fontsize=9)
    axes.legend(fontsize=8, frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.48, -0.14), columnspacing=1.2)


def number(least_value: float, above: bool = False, whole: bool = False) -> Callable[[str], float]:
    """Reads 1e6 and 1,000,000 alike, and says what is wrong with a number."""
    def read(text: str) -> float:
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
        if not math.isfinite(value) or value < least_value or (above and value == least_value):
            raise argparse.ArgumentTypeError(f"{text}: {'above' if above else 'at least'} {least_value:g}")
        if whole and value != int(value):
            raise argparse.ArgumentTypeError(f"{text}: a whole number")
        return int(value) if whole else value
    return read


def seconds(text: str) -> list[float]:
    return [number(0)(part) for part in text.split(",")]


def numbers(text: str) -> list[int]:
    return sorted({int(number(1, whole=True)(part)) for part in text.split(",")})


def duration(text: str) -> tuple[str, float]:
    if text == "none":
        return text, math.inf
    if text[-1:] not in UNITS:
        raise argparse.ArgumentTypeError(f"{text!r}: a number with s, m, h or d, or none")
    return text, number(0, above=True)(text[:-1]) * UNITS[text[-1]]


def durations(text: str) -> list[tuple[str, float]]:
    return [duration(part) for part in text.split(",")]


def picture(text: str) -> Path:
    if Path(text).suffix not in (".svg", ".png"):
        raise argparse.ArgumentTypeError(f"{text}: a file .svg or .png")
    return Path(text)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--workers", type=number(1, whole=True), required=True, metavar="N", help="shards that are read at once")
    add("--pages", type=number(0, above=True), required=True, metavar="N", help="of the archive")
    add("--documents", type=number(1, whole=True), required=True, metavar="N", help="of the archive; each is in one shard")
    add("--seconds-per-page", type=number(0, above=True), required=True, metavar="S",
        help="of one worker with all its cores: core-seconds a page over its cores")
    add("--start", type=number(0), required=True, metavar="S", help="of each try: the model, and the scheduler's own")
    add("--start-per-document", type=seconds, required=True, metavar="LIST",
        help="of each try, for each document of the archive, in seconds: every shard lists all inputs and reads all ledgers; "
        "several are simulated in turn")
    add("--last-run-per-document", type=number(0), required=True, metavar="S", help="of the run over everything at the end")
    add("--tail", type=number(1, above=True), required=True, metavar="A",
        help="of the sizes of documents: above 1; 1.2 a few that are enormous, 3 nearly even")
    add("--largest", type=number(1, above=True), required=True, metavar="X", help="document, as a multiple of the mean")
    add("--mtbf", type=durations, required=True, metavar="LIST",
        help="mean time between failures of a worker: none, or 90m, 24h, 30d; several, by commas, are simulated in turn")
    add("--requeue", type=number(0), required=True, metavar="S", help="until a failed worker and its shard are back")
    add("--lost", type=number(0), required=True, metavar="S", help="of reading that a failure costs: the pages in flight")
    add("--shards-per-worker", type=numbers, required=True, metavar="LIST", help="such as 1,2,4,8,16,32")
    add("--repeats", type=number(1, whole=True), required=True, metavar="N", help="archives drawn for each")
    add("--seed", type=number(0, whole=True), metavar="N", help="without it one is drawn; it is printed either way")
    add("--plot", type=picture, metavar="FILE", help="makespan and where the time goes, as .svg or .png")
    add("--json", type=Path, metavar="FILE", help="settings and results for programs")
    return parser


def main() -> int:
    parser = options()
    settings = parser.parse_args()
    if settings.plot and len(scenarios(settings)) > len(COLOURS):
        parser.error(f"--plot draws {len(COLOURS)} combinations of --start-per-document and --mtbf at most")
    if settings.seed is None:
        settings.seed = secrets.randbelow(2**32)
    told = {name: value for name, value in vars(settings).items() if name not in ("plot", "json")}
    told["mtbf"] = [name for name, _ in settings.mtbf]
    print("  ".join(f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}" for name, value in told.items()))
    rows = run(settings)
    print(table(settings, rows))
    if settings.json:
        settings.json.write_text(json.dumps({"settings": told, "least_s": least(settings), "rows": rows}, indent=1) + "\n")
    if settings.plot:
        plot(settings, rows, settings.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
