"""Tables with known cells: ruled, half ruled, unruled, with a dark head; some with spans.

page.tables gets {"box", "style", "rows", "columns", "cells": [{"row", "column", "row_span",
"column_span", "text", "box"}]}; the box of a cell is its room, not its ink.
"""
from blocks import body, heading
from page import pages

HEADS = ["Article", "Quantity", "Unit", "Price", "Year", "Share", "Total", "Stock", "Weight", "Change"]


def contents(words, rng, rows, columns):
    """Text by row and column: a head, names in the first column, numbers in the others."""
    heads = ["Article", *rng.sample(HEADS[1:], columns - 1)]
    kinds = [rng.choice(["count", "money", "percent", "word"]) for _ in range(columns)]
    def value(column):
        if column == 0:
            return words.pick("item")
        return {"count": str(rng.randint(1, 990)), "money": words.money(),
                "percent": f"{rng.uniform(0, 99):.1f} %",
                "word": rng.choice(["yes", "no", "open", "sent", "new"])}[kinds[column]]
    return [heads] + [[value(c) for c in range(columns)] for _ in range(rows - 1)]


def spanned(rng, rows, columns, wanted):
    """{(row, column): (row_span, column_span)} of the cells that cover others, in the body only."""
    spans, taken = {}, set()
    for _ in range(wanted):
        row, column = rng.randint(1, rows - 2), rng.randint(0, columns - 2)
        spread = (1, 2) if rng.random() < .5 else (2, 1)
        cells = {(row + r, column + c) for r in range(spread[0]) for c in range(spread[1])}
        if not cells & taken:
            spans[row, column] = spread
            taken |= cells
    return spans


def draw_table(page, words, files, rng, x, y, width, style):
    f = pages.Face(files, rng.uniform(9, 10.5), page.dpi)
    rows, columns = rng.randint(4, 12), rng.randint(3, 6)
    text = contents(words, rng, rows, columns)
    first = max(f.bold.getlength(row[0]) for row in text) + 5 * page.mm
    step = (width - first) / (columns - 1)
    xs = [x, *(x + first + i * step for i in range(columns))]
    height = f.px * rng.uniform(1.6, 2.2)
    ys = [y + i * height for i in range(rows + 1)]
    spans = spanned(rng, rows, columns, rng.choice([0, 0, 1, 2]) if style == "ruled" else 0)
    hidden = {(r + i, c + j) for (r, c), (h, w) in spans.items() for i in range(h) for j in range(w)} - set(spans)
    if style == "dark":
        page.draw.rectangle([round(v) for v in (xs[0], ys[0], xs[-1], ys[1])], fill=60)
    table = {"style": style, "rows": rows, "columns": columns, "cells": [],
             "box": [round(v) for v in (xs[0], ys[0], xs[-1], ys[-1])]}
    with page.region("table"):
        for r in range(rows):
            page.new_row()
            for c in range(columns):
                if (r, c) in hidden:
                    continue
                h, w = spans.get((r, c), (1, 1))
                font = f.bold if r == 0 else f.regular
                right = c > 0 and r > 0 and text[r][c][0].isdigit() and w == 1
                place = xs[c + w] - 2 * page.mm if right else xs[c] + 2 * page.mm
                baseline = (ys[r] + ys[r + h]) / 2 + f.px * .36
                page.text(text[r][c], place, round(baseline), font, "table", "right" if right else "left",
                          new_row=False, ink=255 if style == "dark" and r == 0 else 0)
                table["cells"].append({"row": r, "column": c, "row_span": h, "column_span": w,
                                       "text": text[r][c],
                                       "box": [round(v) for v in (xs[c], ys[r], xs[c + w], ys[r + h])]})
    page.tables.append(table)
    rule(page, style, xs, ys, spans)
    return ys[-1]


def rule(page, style, xs, ys, spans):
    if style in ("half", "dark"):
        lines = (0, 1, len(ys) - 1) if style == "half" else range(len(ys))
        for i in lines:
            page.rule(xs[0], ys[i], xs[-1], ys[i], .3 if i in (0, len(ys) - 1) else .15)
    if style != "ruled":
        return
    covered = {(r + i, c + j): (r, c) for (r, c), (h, w) in spans.items() for i in range(h) for j in range(w)}
    same = lambda a, b: a in covered and covered.get(a) == covered.get(b)  # noqa: E731
    for r in range(len(ys)):
        for c in range(len(xs) - 1):
            if not same((r - 1, c), (r, c)):
                page.rule(xs[c], ys[r], xs[c + 1], ys[r])
    for c in range(len(xs)):
        for r in range(len(ys) - 1):
            if not same((r, c - 1), (r, c)):
                page.rule(xs[c], ys[r], xs[c], ys[r + 1])


def page_of(style):
    def draw(page, words, files, rng):
        mm = page.mm
        y = heading(page, words, files, 15, 22 * mm, 20 * mm, kind="title")
        for _ in range(2):
            y = body(page, words, files, 11, [22 * mm, y, 188 * mm, y + 60 * mm], rng, .8) + 5 * mm
            y = draw_table(page, words, files, rng, 22 * mm, y, rng.uniform(120, 166) * mm, style) + 6 * mm
            if y > 190 * mm:
                break
        body(page, words, files, 11, [22 * mm, y, 188 * mm, 278 * mm], rng)
    return draw
