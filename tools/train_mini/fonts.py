"""Font discovery, families, weights and the held-out evaluation fonts."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from fontTools.ttLib import TTFont
from PIL import ImageFont

from charset import ALPHABET, ASCII

# Two serif, one sans, one mono family never seen in training.
HELD_OUT_FAMILIES = ("Caladea", "LinLibertine", "OpenSans", "Courier-Prime")

# family -> (file name prefixes, sampling weight)
FAMILIES: dict[str, tuple[tuple[str, ...], float]] = {
    "Liberation-Sans": (("LiberationSans-", "LiberationSansNarrow"), 4),
    "Liberation-Serif": (("LiberationSerif",), 4),
    "Liberation-Mono": (("LiberationMono",), 2.5),
    "DejaVu-Sans": (("DejaVuSans-", "DejaVuSans.", "DejaVuSansCondensed"), 3),
    "DejaVu-Serif": (("DejaVuSerif",), 2.5),
    "DejaVu-Mono": (("DejaVuSansMono",), 2),
    "FreeSans": (("FreeSans",), 2),
    "FreeSerif": (("FreeSerif",), 2),
    "FreeMono": (("FreeMono",), 2),
    "Carlito": (("Carlito",), 3),
    "Caladea": (("Caladea",), 3),
    "TG-Termes": (("texgyretermes-",), 3),
    "TG-Heros": (("texgyreheros",), 3),
    "TG-Pagella": (("texgyrepagella-",), 2),
    "TG-Schola": (("texgyreschola-",), 2),
    "TG-Bonum": (("texgyrebonum-",), 1.5),
    "TG-Adventor": (("texgyreadventor",), 1),
    "TG-Cursor": (("texgyrecursor",), 2),
    "LM-Roman": (("lmroman1", "lmroman8", "lmroman9"), 3),
    "LM-Sans": (("lmsans1", "lmsans9"), 1),
    "LM-Mono": (("lmmono1", "lmmonolt"), 1),
    "CMU": (("cmunrm", "cmunti", "cmunbx", "cmunss", "cmuntt"), 2),
    "NotoSans": (("NotoSans-", "NotoSansDisplay-"), 3),
    "NotoSerif": (("NotoSerif-", "NotoSerifDisplay-"), 3),
    "NotoMono": (("NotoSansMono-",), 1),
    "Courier-Prime": (("Courier",), 1),
    "OpenSans": (("OpenSans",), 2),
    "Roboto": (("Roboto-", "RobotoCondensed"), 3),
    "RobotoSlab": (("RobotoSlab",), 1),
    "Lato": (("Lato-Regular", "Lato-Bold", "Lato-Italic", "Lato-Medium", "Lato-Light."), 2),
    "LinLibertine": (("LinLibertine_",), 2),
    "EBGaramond": (("EBGaramond",), 2),
    "Cantarell": (("Cantarell",), 1),
    "Hack": (("Hack-",), 1),
    "Inconsolata": (("Inconsolata",), 1),
    "FiraCode": (("FiraCode",), 1),
    "Junicode": (("Junicode-R", "Junicode-B", "Junicode-I"), 0.5),
    "Charis": (("CharisSIL",), 1.5),
    "Gentium": (("GenBas", "GenBkBas", "Gentium"), 1.5),
    "NimbusRoman": (("NimbusRoman",), 3),
    "NimbusSans": (("NimbusSans-", "NimbusSansNarrow-"), 3),
    "NimbusMono": (("NimbusMono",), 2),
    "Bookman": (("URWBookman",), 1.5),
    "C059": (("C059",), 2),
    "P052": (("P052",), 2),
    "Gothic": (("URWGothic",), 1),
    "Oxygen": (("Oxygen",), 1),
    "Mononoki": (("mononoki",), 0.5),
    "Andika": (("Andika",), 1),
    "Vollkorn": (("Vollkorn-Regular", "Vollkorn-Italic", "Vollkorn-Bold"), 1),
    "Arimo": (("Arimo",), 2),
    "Tinos": (("Tinos",), 2),
    "Cousine": (("Cousine",), 1),
    "Baskervald": (("Baskervald",), 0.7),
    "Accanthis": (("Accanthis",), 0.5),
    "Libris": (("Libris",), 0.5),
    "Universalis": (("Universalis",), 0.7),
    "Gillius": (("Gillius",), 0.7),
    "Romande": (("Romande",), 0.5),
    "Berenis": (("Berenis",), 0.5),
    "Tribun": (("Tribun",), 0.5),
    "Ikarius": (("Ikarius",), 0.3),
    "Quicksand": (("Quicksand",), 0.4),
    "Paratype": (("PTS", "PTF", "PTC", "PTM", "PTN", "PTZ"), 2),
    "Prociono": (("Prociono",), 0.4),
    "Play": (("Play",), 0.4),
    "LeagueSpartan": (("LeagueSpartan-Regular", "LeagueSpartan-Bold"), 0.4),
    "B612": (("B612",), 1),
    "AnonymousPro": (("Anonymous",), 0.7),
    "Fantasque": (("FantasqueSansMono-Regular", "FantasqueSansMono-Bold"), 0.3),
    "Monoid": (("Monoid",), 0.3),
    "Artemisia": (("GFSArtemisia",), 0.7),
    "Yrsa": (("Yrsa",), 0.5),
    "Tuffy": (("Tuffy",), 0.7),
    "Dosis": (("Dosis-Regular", "Dosis-Bold"), 0.3),
    "Doulos": (("DoulosSIL",), 1.5),
    "JetBrainsMono": (("JetBrainsMono-Regular", "JetBrainsMono-Bold", "JetBrainsMono-Italic"), 1),
    "Inter": (("Inter-Regular", "Inter-Bold", "Inter-Italic", "Inter-Medium"), 2),
    "Sora": (("Sora-Regular", "Sora-Bold"), 0.4),
    "Agave": (("agave",), 0.3),
    "GNUTypewriter": (("GNUTypewriter",), 8),
    "OCR-A": (("OCRA",), 0.3),
    "OCR-B": (("OCRB",), 0.5),
    "Jura": (("Jura",), 0.3),
}

# A face that lacks more characters of ASCII is not used.
LACKING_ASCII = 1
# Faces that draw lower-case letters as small capitals teach that a capital may be lower case.
SMALL_CAPITALS = ("SC0", "SC1", "AllSC")


@dataclass(frozen=True)
class FontFile:
    """One usable face: which characters it has and its real ascender/descender (em fractions)."""

    path: str
    family: str
    weight: float
    chars: str
    ascent: float
    descent: float
    index: int = 0


def scan(font_dir: Path) -> list[FontFile]:
    """Inspect every font file below ``font_dir`` that belongs to a known family."""
    found: dict[str, list[FontFile]] = defaultdict(list)
    for path in sorted(p for p in font_dir.rglob("*") if p.suffix.lower() in (".ttf", ".otf")):
        family = next(
            (f for f, (prefixes, _) in FAMILIES.items() if path.name.startswith(prefixes)), None
        )
        if family is None or "Oblique" in path.name and "lm" in path.name:
            continue
        if any(mark in path.stem for mark in SMALL_CAPITALS):
            continue
        try:
            cmap = TTFont(path, lazy=True).getBestCmap() or {}
            chars = "".join(c for c in ALPHABET if ord(c) in cmap)
            if len(set(ASCII) - set(chars)) > LACKING_ASCII:
                continue
            box = ImageFont.truetype(str(path), 200, layout_engine=ImageFont.Layout.BASIC).getbbox(
                "dlkhgpqy", anchor="ls"
            )
            found[family].append(
                FontFile(
                    str(path.relative_to(font_dir)), family, 0.0, chars, -box[1] / 200, box[3] / 200
                )
            )
        except Exception as exc:  # damaged or bitmap-only files
            print("skip", path.name, exc)
    out = []
    for family, files in found.items():
        share = [
            3.0
            if any(k in Path(f.path).stem.lower() for k in ("regular", "roman-", "book"))
            or "-" not in Path(f.path).stem
            else 1.0
            for f in files
        ]
        for f, s in zip(files, share):
            out.append(FontFile(**{**asdict(f), "weight": FAMILIES[family][1] * s / sum(share)}))
    return out


@lru_cache(maxsize=2048)
def load_face(path: str, size: int, raqm: bool = False) -> ImageFont.FreeTypeFont:
    """Cached PIL font object."""
    engine = ImageFont.Layout.RAQM if raqm else ImageFont.Layout.BASIC
    return ImageFont.truetype(path, size, layout_engine=engine)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--font-dir", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    args = ap.parse_args()
    files = scan(args.font_dir)
    args.out.write_text(json.dumps([asdict(f) for f in files], ensure_ascii=False))
    families = {f.family for f in files}
    print(
        len(files),
        "faces in",
        len(families),
        "families; missing:",
        sorted(set(FAMILIES) - families),
    )


if __name__ == "__main__":
    main()
