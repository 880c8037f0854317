#!/usr/bin/env python3
"""Which pages of doubt_pages.py were called doubtful, and how well those pages had been read.

    doubt_rates.py --pages DIR --results OUT/DIR [--json rates.json]

A page of Latin text counts as lost if more than half of its words are wrong: the words of its text
that are not among those read, in any order, as a share of its words.
"""

import argparse
import collections
import json

LATIN = ("trained", "latin", "worn")


def word_errors(truth, text):
    a, b = collections.Counter(truth.split()), collections.Counter(text.split())
    return 1 - sum((a & b).values()) / max(1, sum(a.values()))


def lines_of(page):
    return [line for region in page["regions"] for line in region["lines"] if line["tokens"] > 0]


def facts(name, about, folder):
    """What the tables are made of, for one page."""
    with open(f"{folder}/{name}.json", encoding="utf-8") as f:
        page = json.load(f)["pages"][0]
    lines = lines_of(page)
    tokens = sum(line["tokens"] for line in lines)
    text = "\n".join(region["text"] for region in page["regions"])
    return {
        "file": name,
        "group": about["group"],
        "kind": about["kind"],
        "damage": about.get("damage", ""),
        "language": about.get("language", ""),
        "doubts": [doubt["code"] for doubt in page.get("doubts", [])],
        "lines": len(lines),
        "low": sum(line["confidence"]["mean"] < 0.6 for line in lines),
        "tokens": tokens,
        "mean": (
            sum(line["confidence"]["mean"] * line["tokens"] for line in lines) / tokens
            if tokens
            else None
        ),
        "word_errors": word_errors(about["text"], text) if about["group"] in LATIN else None,
        "empty": not text.strip(),
    }


def quantiles(values):
    values = sorted(values)
    return {
        f"p{q}": round(values[min(len(values) - 1, q * len(values) // 100)], 4)
        for q in (0, 1, 5, 25, 50, 75, 95, 99, 100)
    }


def table(pages):
    rates = {"pages": len(pages), "empty": sum(p["empty"] for p in pages)}
    for code in ("no_text", "low_confidence", "foreign_script", "repetition", "token_limit"):
        rates[code] = sum(code in p["doubts"] for p in pages)
    rates["any"] = sum(bool(p["doubts"]) for p in pages)
    means = [p["mean"] for p in pages if p["mean"] is not None]
    if means:
        rates["mean_confidence"] = quantiles(means)
    if pages[0]["word_errors"] is not None:
        lost = [p for p in pages if p["word_errors"] > 0.5]
        rates["lost"] = len(lost)
        rates["lost_and_doubtful"] = sum(bool(p["doubts"]) for p in lost)
        rates["read_but_doubtful"] = sorted(
            p["file"] for p in pages if p["doubts"] and p["word_errors"] <= 0.5
        )
    return rates


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("--json")
    o = parser.parse_args()
    with open(f"{o.pages}/pages.json", encoding="utf-8") as f:
        pages = [facts(name, about, o.results) for name, about in json.load(f).items()]
    rates = {}
    for group in dict.fromkeys(p["group"] for p in pages):
        some = [p for p in pages if p["group"] == group]
        rates[group] = {"all": table(some)}
        for key in ("kind", "language"):
            for value in sorted({p[key] for p in some} - {""}):
                part = [p for p in some if p[key] == value]
                rates[group][value] = {
                    k: v for k, v in table(part).items() if k != "mean_confidence"
                }
    text = json.dumps(rates, indent=1, ensure_ascii=False)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            f.write(text + "\n")
    for group, parts in rates.items():
        print(group, json.dumps(parts["all"]))
    for p in pages:
        wrong = p["doubts"] if p["group"] in LATIN + ("blank",) else not p["doubts"]
        if wrong and not (p["group"] == "inked" and not p["empty"]):
            print(
                p["file"],
                p["kind"],
                p["damage"],
                p["doubts"],
                "lines",
                p["lines"],
                "low",
                p["low"],
                "tokens",
                p["tokens"],
                "mean",
                p["mean"] and round(p["mean"], 3),
                "word errors",
                p["word_errors"] and round(p["word_errors"], 2),
            )


if __name__ == "__main__":
    main()
