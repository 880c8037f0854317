#!/usr/bin/env python3
"""Draws what a page and an image cost, from files of bench/results.

    plot_pages.py pages OUT.svg NAME=PAGES.json ...     pages per core-hour by resolution
    plot_pages.py vision OUT.svg NAME=PEERS.json ...    seconds of the image encoder beside the peers

PAGES.json: {"builds": [{"build", "150_dpi": [results of `platen bench pages --json`], ...}]}.
PEERS.json: what bench/peers/compare.py --json writes. NAME: of the CPU. Bars are medians, whiskers go
from the slowest to the fastest run. Needs Python 3.9 and matplotlib. The same file from the same input.
"""
import json
import statistics
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = ["#9ecae1", "#d95f02", "#3182bd", "#756bb1", "#74c476", "#636363"]


def bars(axes, places, series, title):
    """`series`: {name: {place: [values]}}."""
    width = 0.8 / len(series)
    for k, (name, values) in enumerate(series.items()):
        x = [i + (k - (len(series) - 1) / 2) * width for i, place in enumerate(places) if place in values]
        found = [values[place] for place in places if place in values]
        medians = [statistics.median(v) for v in found]
        spread = [[m - min(v) for m, v in zip(medians, found)], [max(v) - m for m, v in zip(medians, found)]]
        drawn = axes.bar(x, medians, width * 0.92, yerr=spread, label=name, color=COLOURS[k % len(COLOURS)],
                         capsize=2, error_kw={"elinewidth": 0.8})
        axes.bar_label(drawn, [f"{m:.3g}" for m in medians], fontsize=7, padding=2)
    axes.set_xticks(range(len(places)), places)
    axes.set_title(title, fontsize=10)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def pages(axes, title, result):
    series, places = {}, []
    for build in result["builds"]:
        for key, runs in build.items():
            if not key.endswith("_dpi"):
                continue
            place = key.replace("_", " ")
            places += [] if place in places else [place]
            hours = [3600 / run["core_seconds_a_page"]["median"] for run in runs]
            series.setdefault(f"{runs[0]['attention']} attention", {})[place] = hours
    bars(axes, places, series, title)


def vision(axes, title, result):
    best = {}
    for row in result["rows"]:
        name = "platen" if row["engine"].startswith("platen") else row["engine"].split(" ")[0]
        key = (name, f"{row['size']:,}")
        if row["phase"] == "vision" and (key not in best or row["seconds"]["median"] < best[key]["median"]):
            best[key] = row["seconds"]
    places = sorted({place for name, place in best if name != "platen"}, key=lambda p: int(p.replace(",", "")))
    series = {}
    for (name, place), seconds in best.items():
        if place in places:
            series.setdefault(name, {})[place] = [seconds["min"], seconds["median"], seconds["max"]]
    bars(axes, places, dict(sorted(series.items(), key=lambda item: item[0] != "platen")), title)


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("pages", "vision"):
        sys.exit(__doc__.strip())
    draw, unit = {"pages": (pages, "pages per core-hour"),
                  "vision": (vision, "seconds of an image, one thread")}[sys.argv[1]]
    inputs = [argument.split("=", 1) for argument in sys.argv[3:]]
    plt.rcParams.update({"svg.hashsalt": "platen", "font.size": 9, "svg.fonttype": "path"})
    figure, axes = plt.subplots(1, len(inputs), figsize=(4.4 * len(inputs), 3.4), squeeze=False,
                                layout="constrained")
    for place, (name, path) in zip(axes[0], inputs):
        draw(place, name, json.load(open(path)))
        if sys.argv[1] == "vision":
            place.set_xlabel("patches")
    axes[0][0].set_ylabel(unit)
    axes[0][-1].legend(frameon=False, fontsize=8)
    figure.savefig(sys.argv[2], metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
