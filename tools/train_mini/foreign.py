"""Made lines of languages for which no free package has prose: their words, quotes and capitals."""

from __future__ import annotations

import random

QUOTES = {
    "de": "„“", "cs": "„“", "sk": "„“", "sl": "„“", "hr": "„”", "pl": "„”", "hu": "„”", "ro": "„”",
    "lt": "„“", "et": "„“", "lv": "„”", "fr": "«»", "it": "«»", "es": "«»", "pt": "«»", "da": "»«",
    "sv": "””", "fi": "””", "nb": "«»", "nl": "‘’", "tr": "“”",
}  # fmt: skip
FINAL = (".", ".", ".", ",", ";", ":", "?", "!", "…", "")


class Foreign:
    """Draws lines of words of one language; ``words`` are lists named ``words_xx``."""

    def __init__(self, rng: random.Random, words: dict[str, list[str]]) -> None:
        self.rng = rng
        self.words = {k[6:]: v for k, v in words.items() if k[6:] in QUOTES}

    def line(self, target: int) -> str:
        """About ``target`` characters: phrases, marks after some, now and then a quotation."""
        r = self.rng
        language = r.choice(sorted(self.words))
        opening, closing = QUOTES[language]
        capitals = r.random() < 0.1
        out, size, start = [], 0, r.random() < 0.5
        while not out or size < target:
            phrase = r.choice(self.words[language])
            if start:
                phrase = phrase[:1].upper() + phrase[1:]
            mark = r.choice(FINAL) if r.random() < 0.2 else ""
            start = mark in (".", "?", "!")
            if r.random() < 0.07:
                phrase = f"{opening}{phrase}{closing}"
            out.append(phrase + mark)
            size += len(out[-1]) + 1
        text = " ".join(out)[: target + 6].rsplit(" ", 1)[0] or out[0]
        return text.upper() if capitals and language != "tr" else text
