"""Kinds of regions and cells of tables, found and true."""
from collections import Counter

import cer

# Truth knows charts; the classical detector calls them figures.
SAME = {"chart": "figure"}
TABULAR = {"form", "invoice", "receipt"}


def overlap(a, b):
    """Share of box a that lies in box b."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    area = (a[2] - a[0]) * (a[3] - a[1])
    return max(0, width) * max(0, height) / area if area > 0 else 0


def kind_pairs(page, found):
    """(true, found) kind of each true region; "" if nothing was found there."""
    square = page["height"] and found["height"] / page["height"]  # oblong pixels are made square
    pairs = []
    for region in page["regions"]:
        box = [v * (square if i % 2 else 1) for i, v in enumerate(region["box"])]
        best = max(found["regions"], key=lambda other: overlap(box, other["box"]), default=None)
        label = best["label"] if best and overlap(box, best["box"]) > .5 else ""
        pairs.append((SAME.get(region["kind"], region["kind"]), SAME.get(label, label)))
    return pairs


def cells_of(table):
    return {(c["row"], c["column"]): c for c in table["cells"]}


def table_score(table, found_tables):
    """(cells with the right place, span and nearly the right text, all true cells, rows and columns right)."""
    best = max(found_tables, key=lambda other: overlap(table["box"], other["box"]), default=None)
    if best is None or overlap(table["box"], best["box"]) < .3:
        return 0, len(table["cells"]), False
    found = cells_of(best["table"])
    right = 0
    for place, cell in cells_of(table).items():
        other = found.get(place)
        if other is None or (other["row_span"], other["column_span"]) != (cell["row_span"], cell["column_span"]):
            continue
        right += cer.score(cell["text"], other["text"])["cer"] <= .2 if cell["text"].strip() else not other["text"]
    same = (best["table"]["rows"], best["table"]["columns"]) == (table["rows"], table["columns"])
    return right, len(table["cells"]), same


class Structure:
    """Counts over many pages."""

    def __init__(self):
        self.kinds, self.cells, self.tables, self.false_tables = Counter(), {}, {}, Counter()

    def add(self, page, found):
        self.kinds.update(kind_pairs(page, found))
        tables = [r for r in found["regions"] if r["label"] == "table" and "table" in r]
        for table in page["tables"]:
            right, count, same = table_score(table, tables)
            cells, grids = self.cells.setdefault(table["style"], [0, 0]), self.tables.setdefault(table["style"], [0, 0])
            cells[0] += right
            cells[1] += count
            grids[0] += same
            grids[1] += 1
        known = [t["box"] for t in page["tables"]]
        false = sum(all(overlap(t["box"], box) < .3 for box in known) for t in tables)
        self.false_tables["rows" if page["class"] in TABULAR else "none"] += false

    def print(self):
        print("kind              regions   found as it   mostly found as")
        for kind in sorted({true for true, _ in self.kinds}):
            found = Counter({other: n for (true, other), n in self.kinds.items() if true == kind})
            others = ", ".join(f"{other or 'nothing'} {n}" for other, n in found.most_common(4) if other != kind)
            print(f"{kind:16}{found.total():9}{found[kind] / found.total():14.3f}   {others}")
        for style in sorted(self.cells):
            (right, count), (same, grids) = self.cells[style], self.tables[style]
            print(f"table, {style:10} {grids} tables, rows and columns right {same / grids:.2f}, "
                  f"cells right {right / count:.3f} of {count}")
        print(f"tables where none is: {self.false_tables['none']}; in {', '.join(sorted(TABULAR))}, whose rows "
              f"are tables to a reader though the truth does not list them: {self.false_tables['rows']}")
