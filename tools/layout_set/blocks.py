"""Blocks of print that every class uses. Each returns the y below it."""
from page import pages


def faces(page, files, pt):
    return pages.Face(files, pt, page.dpi)


def body(page, words, files, pt, box, rng, share=1.0, justify=False):
    """Paragraphs down a column box [x, y, x1, y1] as far as `share` of its height; returns the y below."""
    f = faces(page, files, pt)
    lead = f.px * 1.22
    x, y, x1, y1 = box
    end = y + (y1 - y) * share
    while y + lead * 3 < end:
        with page.region("text"):
            y, _ = page.paragraph(words.paragraph(rng.random() < .5), x, y, x1 - x, f.regular, lead,
                                  justify=justify, bottom=end)
        y += lead * .5
    return y


def heading(page, words, files, pt, x, y, align="left", kind="heading"):
    f = faces(page, files, pt)
    y += f.px * 1.2
    with page.region(kind):
        page.text(words.pick("heading") if kind == "heading" else f"On {words.pick('object')}", x,
                  round(y), f.bold, kind, align)
    return y + f.px * .4


def caption(page, words, files, x, y, width, number):
    f = faces(page, files, 8.5)
    with page.region("caption"):
        y, _ = page.paragraph(f"Fig. {number}. {words.sentence()}", x, y, width, f.italic, f.px * 1.2, "caption")
    return y + f.px
