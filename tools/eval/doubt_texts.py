#!/usr/bin/env python3
"""Sentences in many languages for doubt_pages.py, from the message catalogues of Debian packages.

    apt-get download libgtk-3-common libglib2.0-data evolution-common evince-common libgimp2.0 \\
        gnome-control-center-data iso-codes nautilus-data totem-common gedit-common
    for f in *.deb; do dpkg -x $f tree; done
    doubt_texts.py tree/usr/share/locale texts.json

Messages with markup or place holders are left out, and in scripts other than Latin those with more
than a quarter of Latin letters. English is what the German catalogues translate.
"""

import argparse
import glob
import gettext
import json
import re
import unicodedata

from doubt_pages import GROUPS

MARKUP = re.compile(r"[%<>{}|\\$@#=*~^]|--|\(\w\)|\bhttp")
FOREIGN = set(GROUPS["foreign"][0])


def latin_share(text):
    letters = [c for c in text if c.isalpha()]
    return (
        sum("LATIN" in unicodedata.name(c, "") for c in letters) / len(letters)
        if len(letters) >= 6
        else None
    )


def cleaned(message):
    message = message.split("\x04")[-1].replace("_", "").replace("&", "")
    return re.sub(r"\s+", " ", message).strip()


def messages(folder, language):
    """The translations, in the order of the catalogues; for English what is translated."""
    for path in sorted(
        glob.glob(f"{folder}/{'de' if language == 'en' else language}/LC_MESSAGES/*.mo")
    ):
        if "iso_" in path:
            continue
        with open(path, "rb") as f:
            try:
                catalogue = gettext.GNUTranslations(f)._catalog
            except (IndexError, ValueError, OSError):  # a few have a broken head
                continue
        for source, translation in catalogue.items():
            if isinstance(source, str) and source and isinstance(translation, str):
                yield cleaned(source if language == "en" else translation)


def sentences(folder, language):
    kept = {}
    for message in messages(folder, language):
        share = latin_share(message)
        if not 12 <= len(message) <= 400 or MARKUP.search(message) or share is None:
            continue
        if share <= 0.25 if language in FOREIGN else share > 0.95:
            kept[message] = None
    return list(kept)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("locale")
    parser.add_argument("texts")
    o = parser.parse_args()
    languages = sorted({language for group, _ in GROUPS.values() for language in group})
    with open(o.texts, "w", encoding="utf-8") as f:
        json.dump(
            {language: sentences(o.locale, language) for language in languages},
            f,
            ensure_ascii=False,
        )


if __name__ == "__main__":
    main()
