#!/usr/bin/env python3
"""Draws what speculation gains, from results of `platen bench decode --json`.

    plot_decode.py FULL.json [SMALL.json] OUT.svg

One panel for each file (a second one with --draft-vocabulary, for one): speed as a multiple of plain
decoding against the number of sequences at once, a line for each number of drafts; bars from the
slowest to the fastest repetition. Needs Python 3.9 and matplotlib. The same file from the same input.
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"1": "#9ecae1", "2": "#6baed6", "3": "#3182bd", "4": "#08519c", "adaptive": "#d95f02"}


def panel(axes, result):
    lines = {}
    for row in result["rows"]:
        if row["drafts"] != "0":
            lines.setdefault(row["drafts"], []).append(row)
    places = sorted({row["sequences"] for row in result["rows"]})
    for shift, (drafts, rows) in enumerate(sorted(lines.items())):
        x = [places.index(row["sequences"]) + 0.06 * (shift - len(lines) / 2) for row in rows]
        speed = [row["speedup"]["median"] for row in rows]
        below = [row["speedup"]["median"] - row["speedup"]["min"] for row in rows]
        above = [row["speedup"]["max"] - row["speedup"]["median"] for row in rows]
        name = "adaptive" if drafts == "adaptive" else drafts + (" draft" if drafts == "1" else " drafts")
        axes.errorbar(x, speed, yerr=[below, above], label=name, color=COLOURS.get(drafts, "#555555"),
                      marker="o", markersize=4, capsize=2, elinewidth=0.8,
                      linewidth=2.2 if drafts == "adaptive" else 1.2)
    axes.axhline(1, color="#555555", linewidth=0.8)
    axes.set_xticks(range(len(places)), [str(p) for p in places])
    axes.set_xlabel("sequences decoded at once")
    axes.set_title(f"draft layer chooses among {result['draft_vocabulary']:,} tokens", fontsize=10)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    results = [json.load(open(name)) for name in sys.argv[1:-1]]
    plt.rcParams.update({"svg.hashsalt": "platen", "font.size": 9, "svg.fonttype": "path"})
    figure, axes = plt.subplots(1, len(results), figsize=(4.6 * len(results), 3.6), sharey=True,
                                squeeze=False, layout="constrained")
    for place, result in zip(axes[0], results):
        panel(place, result)
    axes[0][0].set_ylabel("tokens per second, plain decoding = 1")
    axes[0][-1].legend(frameon=False, fontsize=8)
    figure.savefig(sys.argv[-1], metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
