#!/usr/bin/env python3
"""Pages that a model of Latin print reads well, badly or not at all, to judge what is doubtful.

Draws short pages of text in many languages, scripts, typefaces and sizes, damages some of them as a
scanner does, and pages without text: blank ones as scanners return them, light text on dark ground,
pictures. The same seed, fonts and texts give the same pages.

    doubt_pages.py --out DIR --seed 7 --texts texts.json [--half 0|1] [--scale 1.0]
                   [--parts text blank]

texts.json    {"en": ["A sentence", ...], "el": [...], ...}, for the languages of GROUPS
--half        only texts of this half (by checksum): rules are chosen on one, judged on the other
--scale       multiplies the number of pages of every group

Writes DIR/<group>/<language or kind>-<n>.<png|jpg> and DIR/pages.json: {"<file>": {"group",
"language", "kind", "damage", "dpi", "points", "font", "lines", "text"}}. Needs Pillow with libraqm,
numpy, OpenCV and fontTools, and the Debian packages named in FONT_PACKAGES.
"""

import argparse
import json
import os
import random
import unicodedata
import zlib

import cv2
import numpy as np
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

import generate_pages

FONT_PACKAGES = (
    "fonts-dejavu fonts-liberation fonts-lato fonts-open-sans fonts-crosextra-carlito "
    "fonts-crosextra-caladea fonts-ebgaramond fonts-linuxlibertine fonts-gnutypewriter "
    "fonts-noto-core fonts-noto-cjk"
)

# The order is part of what a seed means.
FOREIGN = "el ru uk bg sr he ar fa hi bn ta te kn gu th zh_CN zh_TW ja ko ka hy am km ml pa mn"
# group -> languages, pages of each language
GROUPS = {
    "trained": ("en de fr es it pt".split(), 24),
    "latin": ("nl sv fi pl cs hu tr vi ro hr lt lv is cy".split(), 10),
    "worn": ("en de fr es it pt pl vi".split(), 18),
    "foreign": (FOREIGN.split(), 10),
}
# Latin letters of another kind, from the mathematical alphabets of one font: group "styled".
STYLES = {"fraktur": (0x1D56C, 0x1D586), "script": (0x1D4D0, 0x1D4EA)}
STYLED_FONT = "NotoSansMath-Regular.ttf"
RIGHT_TO_LEFT = {"he", "ar", "fa"}
WITHOUT_SPACES = {"zh_CN", "zh_TW", "ja", "th", "km"}
KINDS = ["prose", "prose", "short", "short", "caps", "table", "receipt"]
TRUE_DAMAGE = ["light", "moderate", "dirty", "bilevel", "fax", "blur", "jpeg", "low"]


# ------------------------------------------------------------------------------------------- fonts
def all_fonts():
    """(path, code points) of the text fonts, in a stable order."""
    folders = (
        "dejavu",
        "liberation",
        "lato",
        "open-sans",
        "crosextra",
        "ebgaramond",
        "linux-libertine",
        "noto",
    )
    unwanted = (
        "Mono-",
        "Initials",
        "Keyboard",
        "Hairline",
        "Thin",
        "Music",
        "Nushu",
        "Symbols",
        "SignWriting",
        "Math",
        "Biolinum_K",
        "Black",
        "ExtraLight",
        "Outline",
        "Unjoined",
    )
    found = []
    for root in ("/usr/share/fonts/truetype", "/usr/share/fonts/opentype"):
        for folder, _, names in sorted(os.walk(root)):
            if not any(f in folder for f in folders):
                continue
            for name in sorted(names):
                if name.endswith((".ttf", ".otf", ".ttc")) and not any(u in name for u in unwanted):
                    path = os.path.join(folder, name)
                    font = TTFont(path, fontNumber=0, lazy=True)
                    found.append((path, frozenset(font.getBestCmap() or {})))
    return found


def letters_of(text):
    return [ord(c) for c in text if unicodedata.category(c)[0] in "LM"]


def fonts_for(texts, fonts):
    """Font file -> the texts it has every letter of; only fonts that have most of the texts."""
    fitting = {}
    for path, have in fonts:
        drawable = [t for t in texts if have.issuperset(letters_of(t))]
        if len(drawable) > 0.6 * len(texts):
            fitting[path] = drawable
    return fitting


# ------------------------------------------------------------------------------------------- texts
def pieces(text, language):
    """What a line may be broken between, and what joins it."""
    if language not in WITHOUT_SPACES:
        return text.split(), " "
    units = []
    for c in text.replace("\u200b", ""):
        if units and unicodedata.category(c)[0] == "M":
            units[-1] += c
        else:
            units.append(c)
    return units, ""


def styled(text, style):
    upper, lower = STYLES[style]

    def one(c):
        if "A" <= c <= "Z":
            return chr(upper + ord(c) - 65)
        return chr(lower + ord(c) - 97) if "a" <= c <= "z" else c

    return "".join(map(one, text))


def wrapped(text, language, font, width, direction):
    units, glue = pieces(text, language)
    lines = [""]
    for unit in units:
        longer = lines[-1] + glue + unit if lines[-1] else unit
        if font.getlength(longer, direction=direction) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(unit)
    return lines


def number(rng):
    return rng.choice(
        [
            lambda: f"{rng.randint(1, 99999)}",
            lambda: f"{rng.randint(1, 9999)}.{rng.randint(0, 99):02d}",
            lambda: f"{rng.randint(1, 999)},{rng.randint(0, 999):03d}",
            lambda: f"{rng.randint(1, 100)} %",
            lambda: f"{rng.randint(1, 28):02d}.{rng.randint(1, 12):02d}.{rng.randint(1900, 2030)}",
            lambda: f"-{rng.randint(1, 999)}.{rng.randint(0, 9)}",
        ]
    )()


# ------------------------------------------------------------------------------------------- pages
class Sheet:
    def __init__(self, width, height, dpi):
        self.image = Image.new("L", (width, height), 255)
        self.draw = ImageDraw.Draw(self.image)
        self.dpi, self.mm, self.lines, self.size = dpi, dpi / 25.4, [], (width, height)


def text_sheet(rng, texts, language, kind, path, points, dpi):
    """A page of one kind and its lines."""
    width = int(rng.uniform(110, 180) / 25.4 * dpi) if kind != "receipt" else int(80 / 25.4 * dpi)
    font = ImageFont.truetype(path, points / 72 * dpi)
    lead = (
        font.size
        * rng.uniform(1.25, 1.7)
        * (1.25 if language in ("km", "th", "te", "ml", "kn") else 1)
    )
    count = {
        "prose": rng.randint(12, 26),
        "short": rng.randint(1, 6),
        "caps": rng.randint(2, 14),
        "table": rng.randint(4, 18),
        "receipt": rng.randint(8, 22),
    }[kind]
    margin = 12 / 25.4 * dpi
    sheet = Sheet(width, int(margin * 2 + lead * (count + 1)), dpi)
    right = language in RIGHT_TO_LEFT
    direction = "rtl" if right else "ltr"
    y, drawn = margin, []
    while len(drawn) < count:
        if kind == "table":
            columns = rng.choice([3, 4, 5])
            step = (width - 2 * margin) / columns
            row = [number(rng) for _ in range(columns)]
            for c, figure in enumerate(row):
                sheet.draw.text((margin + (c + 0.9) * step, y), figure, 0, font, anchor="ra")
            lines = [" ".join(row)]
            y += lead
        else:
            text = rng.choice(texts)
            if kind == "prose":
                text = " ".join([text] + [rng.choice(texts) for _ in range(rng.randint(1, 4))])
            if kind == "caps":
                text = text.upper()
            lines = wrapped(text, language, font, width - 2 * margin, direction)[
                : count - len(drawn)
            ]
            for n, line in enumerate(lines):
                if kind == "receipt" and rng.random() < 0.6:
                    line = wrapped(line, language, font, (width - 2 * margin) * 0.6, direction)[0]
                    far = (margin, y) if right else (width - margin, y)
                    price = f"{rng.randint(0, 99)}.{rng.randint(0, 99):02d}"
                    sheet.draw.text(far, price, 0, font, anchor="la" if right else "ra")
                    lines[n] = f"{line} {price}"
                at = (width - margin, y) if right else (margin, y)
                sheet.draw.text(
                    at, line, 0, font, anchor="ra" if right else "la", direction=direction
                )
                y += lead
        drawn += lines
    return sheet, drawn


def worn(sheet, level, rng):
    """The page as a scanner returns it."""
    if level == "none":
        return sheet.image
    if level in generate_pages.DAMAGE:
        return generate_pages.damage(sheet, level, rng, None)[0]
    a = np.asarray(sheet.image)
    if level == "blur":
        a = cv2.GaussianBlur(a, (0, 0), rng.uniform(1.0, 2.2) * sheet.dpi / 200)
    elif level == "low":
        f = rng.uniform(72, 110) / sheet.dpi
        a = cv2.resize(a, None, fx=f, fy=f, interpolation=cv2.INTER_AREA)
    elif level == "jpeg":
        a = cv2.imdecode(cv2.imencode(".jpg", a, [1, rng.randint(6, 25)])[1], 0)
    return Image.fromarray(a)


class Maker:
    def __init__(self, out, rng):
        self.out, self.rng, self.pages = out, rng, {}

    def save(self, group, name, image, quality=None, **facts):
        os.makedirs(f"{self.out}/{group}", exist_ok=True)
        file = f"{group}/{name}.{'jpg' if quality else 'png'}"
        image.save(f"{self.out}/{file}", **({"quality": quality} if quality else {}))
        self.pages[file] = {"group": group, **facts}

    def text_page(self, group, language, n, fonts):
        rng = self.rng
        kind = rng.choice(KINDS)
        if group in ("foreign", "latin", "styled") and kind in ("table", "caps"):
            # Figures are the same everywhere, and capitals the styled alphabets do not have.
            kind = kind if kind == "caps" and group != "styled" else "prose"
        damage = "worn" if group == "worn" else "none"
        if group == "foreign":
            damage = rng.choice(["none", "none", "worn"])
        if damage == "worn":
            damage = rng.choice(TRUE_DAMAGE)
        dpi, points = rng.choice([150, 200, 200, 300]), round(rng.uniform(8, 14), 1)
        font = rng.choice(sorted(fonts))
        sheet, lines = text_sheet(rng, fonts[font], language, kind, font, points, dpi)
        self.save(
            group,
            f"{language}-{n}",
            worn(sheet, damage, rng),
            language=language,
            kind=kind,
            damage=damage,
            dpi=dpi,
            points=points,
            font=os.path.basename(font),
            lines=len(lines),
            text="\n".join(lines),
        )

    def text_groups(self, texts, half, scale):
        fonts = all_fonts()
        for group, (languages, count) in GROUPS.items():
            for language in languages:
                some = [
                    t for t in texts[language] if half is None or zlib.crc32(t.encode()) % 2 == half
                ][:3000]
                fitting = fonts_for(some, fonts)
                assert fitting, language
                for n in range(max(1, round(count * scale))):
                    self.text_page(group, language, n, fitting)

    def styled_pages(self, english, scale):
        path = f"/usr/share/fonts/truetype/noto/{STYLED_FONT}"
        for style in STYLES:
            some = [styled(t, style) for t in english]
            for n in range(round(15 * scale)):
                self.text_page("styled", style, n, {path: some})

    # -------------------------------------------------------------------------- pages without text
    def paper(self, width, height):
        """Paper of a scanner: brightness, light, noise, grain."""
        rng, n = self.rng, np.random.default_rng(self.rng.randrange(1 << 30))
        a = np.full((height, width), rng.uniform(185, 255), np.float32)
        yy, xx = np.mgrid[0:height, 0:width].astype(np.float32)
        if rng.random() < 0.7:  # vignette or a ramp
            a *= 1 - rng.uniform(0, 0.35) * ((xx / width - 0.5) ** 2 + (yy / height - 0.5) ** 2) * 2
            a *= 1 - rng.uniform(0, 0.25) * xx / width
        if rng.random() < 0.8:
            a += cv2.GaussianBlur(
                n.normal(0, rng.uniform(1, 14), a.shape).astype(np.float32),
                (0, 0),
                rng.uniform(0.3, 1.2),
            )
        if rng.random() < 0.4:  # stains, folds
            coarse = cv2.resize(
                n.normal(0, 1, (12, 9)).astype(np.float32),
                (width, height),
                interpolation=cv2.INTER_CUBIC,
            )
            a += coarse * rng.uniform(1, 7)
        return a

    def blank(self, n, ghost):
        rng = self.rng
        dpi = rng.choice([100, 150, 200])
        width, height = int(8.27 * dpi), int(11.69 * dpi)
        kind = rng.choice(
            [
                "paper",
                "white",
                "grey",
                "specks",
                "border",
                "border",
                "fold",
                "shadow",
                "through",
                "holes",
                "ruled",
            ]
        )
        a = self.paper(width, height)
        if kind in ("white", "grey"):
            a[:] = 255 if kind == "white" else rng.uniform(60, 250)
        if kind == "specks":
            for _ in range(rng.randint(1, 25)):
                cv2.circle(
                    a,
                    (rng.randrange(width), rng.randrange(height)),
                    rng.randint(0, max(1, dpi // 120)),
                    rng.uniform(20, 120),
                    -1,
                )
        if kind == "border":
            for side in rng.sample(range(4), rng.randint(1, 4)):
                k = int(rng.uniform(1, 14) / 25.4 * dpi)
                dark = rng.uniform(0, 60)
                if side < 2:
                    a[:, :k] = dark
                    if rng.random() < 0.5:  # not quite straight
                        cv2.fillPoly(
                            a,
                            [
                                np.array(
                                    [[0, 0], [k + rng.randint(1, 20), 0], [k, height], [0, height]]
                                )
                            ],
                            dark,
                        )
                else:
                    a[:k] = dark
                a = np.ascontiguousarray(np.rot90(a, 2)) if rng.random() < 0.5 else a
        if kind == "fold":
            y = rng.randrange(height)
            a[y : y + max(1, dpi // 100)] *= rng.uniform(0.75, 0.93)
        if kind == "shadow":
            k = int(rng.uniform(2, 12) / 25.4 * dpi)
            a[:, :k] *= np.linspace(0.05, 1, k) ** 0.5
        if kind == "through":
            back = cv2.resize(np.asarray(ghost, np.float32), (width, height))[:, ::-1]
            a -= (255 - cv2.GaussianBlur(back, (0, 0), 1.6 * dpi / 200)) * rng.uniform(0.02, 0.12)
        if kind == "holes":
            for y in (0.35, 0.65):
                cv2.circle(
                    a,
                    (int(0.05 * width), int(y * height)),
                    int(3 / 25.4 * dpi),
                    rng.uniform(0, 80),
                    -1,
                )
        if kind == "ruled":  # writing paper, not quite straight
            slope, step = rng.uniform(-0.02, 0.02) * width, rng.uniform(6, 10) / 25.4 * dpi
            thick, shade = rng.randint(1, max(1, dpi // 60)), rng.uniform(60, 190)
            for y in np.arange(0.12 * height, 0.95 * height, step):
                cv2.line(
                    a, (int(0.1 * width), int(y)), (int(0.95 * width), int(y + slope)), shade, thick
                )
        image = Image.fromarray(np.clip(a, 0, 255).astype(np.uint8))
        self.save("blank", f"{kind}-{n}", image, rng.choice([None, 85]), kind=kind, dpi=dpi)

    def inked(self, n, texts, fonts):
        """Pages with ink on which the line finder finds no text, or should not."""
        rng = self.rng
        dpi = rng.choice([100, 150, 200])
        width, height = int(8.27 * dpi), int(11.69 * dpi)
        kind = rng.choice(
            ["negative", "slide", "line", "number", "word", "photo", "engraving", "big", "faint"]
        )
        font = ImageFont.truetype(rng.choice(fonts), rng.uniform(8, 14) / 72 * dpi)
        image = Image.new("L", (width, height), 255)
        draw = ImageDraw.Draw(image)
        if kind in ("negative", "slide"):
            for i in range(1 if kind == "slide" else rng.randint(2, 40)):
                draw.text(
                    (0.1 * width, 0.1 * height + i * font.size * 1.4),
                    rng.choice(texts)[:60],
                    0,
                    font,
                )
            low, high = rng.uniform(0, 70), rng.uniform(170, 255)
            image = Image.fromarray(
                (low + (255 - np.asarray(image)) / 255 * (high - low)).astype(np.uint8)
            )
        elif kind in ("line", "number", "word", "faint"):
            text = {
                "line": rng.choice(texts)[:50],
                "number": str(rng.randint(1, 400)),
                "word": rng.choice(texts).split()[0],
                "faint": rng.choice(texts)[:60],
            }[kind]
            shade = rng.randint(120, 180) if kind == "faint" else rng.randint(0, 60)
            draw.text(
                (rng.uniform(0.1, 0.5) * width, rng.uniform(0.1, 0.9) * height), text, shade, font
            )
        elif kind == "big":
            draw.text(
                (0.1 * width, 0.3 * height),
                "A",
                0,
                ImageFont.truetype(rng.choice(fonts), 0.5 * width),
            )
        else:
            image = Image.fromarray(self.picture(width, height, kind))
        a = np.asarray(image, np.float32) - (255 - self.paper(width, height)) * 0.5
        image = Image.fromarray(np.clip(a, 0, 255).astype(np.uint8))
        self.save("inked", f"{kind}-{n}", image, rng.choice([None, 85]), kind=kind, dpi=dpi)

    def picture(self, width, height, kind):
        """A photo-like texture, or lines that follow it, on part of the page."""
        rng, n = self.rng, np.random.default_rng(self.rng.randrange(1 << 30))
        w, h = int(width * rng.uniform(0.25, 0.8)), int(height * rng.uniform(0.15, 0.6))
        a = np.zeros((h, w), np.float32)
        for cells in (3, 6, 12, 24, 48):
            a += cv2.resize(
                n.normal(0, 1, (cells, cells)).astype(np.float32),
                (w, h),
                interpolation=cv2.INTER_CUBIC,
            ) / np.sqrt(cells)
        a = (a - a.min()) / (a.max() - a.min())
        if kind == "engraving":
            yy = np.mgrid[0:h, 0:w][0] + 20 * a
            a = (np.sin(yy * 2 * np.pi / rng.uniform(5, 9)) * 0.5 + 0.5 > a).astype(np.float32)
        page = np.full((height, width), 255, np.uint8)
        y, x = int((height - h) * rng.random()), int((width - w) * rng.random())
        page[y : y + h, x : x + w] = (20 + 220 * a).astype(np.uint8)
        return page


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--texts", required=True)
    parser.add_argument("--half", type=int, choices=[0, 1])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--parts", nargs="+", choices=["text", "blank"], default=["text", "blank"])
    o = parser.parse_args()
    texts = json.load(open(o.texts, encoding="utf-8"))
    maker = Maker(o.out, random.Random(o.seed))
    english = texts["en"][:3000]
    if "text" in o.parts:
        maker.text_groups(texts, o.half, o.scale)
        maker.styled_pages(english, o.scale)
    if "blank" in o.parts:
        maker.rng = random.Random(o.seed + 1)
        fonts = sorted(fonts_for(english, all_fonts()))
        ghost = text_sheet(maker.rng, english, "en", "prose", fonts[0], 11, 150)[0].image
        for n in range(round(150 * o.scale)):
            maker.blank(n, ghost)
        for n in range(round(150 * o.scale)):
            maker.inked(n, english, fonts)
    json.dump(maker.pages, open(f"{o.out}/pages.json", "w"), indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()
