"""Random ground-truth strings: prose windows plus generated document-like content."""

from __future__ import annotations

import json
import random
import re
import string
import unicodedata
from pathlib import Path

from charset import ALPHABET, CENTRAL, CHARSET, LATIN, TYPOGRAPHIC, WESTERN
from confusing import Confusing
from foreign import Foreign

MONTHS = (
    "January February March April May June July August September October November December "
    "Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec"
).split()
DAYS = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Wed Thu Fri Sat Sun".split()
)
LABELS = (
    "Invoice No. Order Date Total Subtotal VAT Tax Amount Qty Quantity Price Unit Description Item Customer Account "
    "Reference Due Balance Page Tel. Fax Phone Email Address City Zip Name Signature Payment Terms Net Gross Discount "
    "Shipping Bill To Ship To Code Number Currency Bank IBAN Note Section Chapter Figure Table Appendix Version"
).split()
# Characters of a long line. Wide type is rejected by the renderer, so these favour narrow letters.
LONG = (48, 76)
LONG_SHARE = 0.25
# Shares of lines with extra punctuation, codes of look-alikes, rare characters and what
# ``confusing.py`` makes; and of lines in languages for which there is no prose.
PUNCTUATED_SHARE, LOOK_ALIKE_SHARE, RARE_SHARE, CONFUSING_SHARE = 0.22, 0.05, 0.17, 0.16
FOREIGN_SHARE = 0.18
# Share of generated lines whose pieces stand apart as in the head of a letter.
SEPARATED_SHARE = 0.2
SEPARATORS = (" · ", " · ", " • ", " | ", " – ", " / ", " — ", ", ", "; ")
MARKS = (",", ".", ";", ":", "?", "!", ",", ".")
QUOTES = (("“", "”"), ('"', '"'), ("‘", "’"), ("'", "'"), ("“", "”"), ("(", ")"))
ACCENTED = {
    base: [c for c in LATIN + CENTRAL if unicodedata.normalize("NFD", c)[0] == base]
    for base in string.ascii_letters
}
LOOK_ALIKES = ("S5", "O0Q", "I1l", "Z2", "B8", "G6", "T7", "A4", "CE")
ALNUM = string.ascii_uppercase + string.digits
TLDS = "com org net edu gov io co.uk de fr eu info".split()


class TextSource:
    """Draws lines of text.

    With ``hard`` (training lines only) the mix holds more of what a model confuses: lines as long
    as a crop can be, marks and quotes after words, codes of letters and digits that look alike,
    accents and rare marks where no word calls for them, languages of Central Europe.
    """

    def __init__(self, corpus: Path, seed: int, hard: bool = False) -> None:
        data: dict[str, list[str]] = json.loads(corpus.read_text())
        self.words = {k: v for k, v in data.items() if k.startswith("words_")}
        self.prose = {k: v for k, v in data.items() if not k.startswith("words_")}
        weights = {
            "austen": 3,
            "wordnet": 3,
            "go": 2.5,
            "jargon": 2,
            "bible": 1.5,
            "python": 1.5,
            "spanish": 1,
            "opticks": 1,
        }
        self.prose_names = list(self.prose)
        self.prose_weights = [weights.get(n, 1.0) for n in self.prose_names]
        self.rng = random.Random(seed)
        self.hard = hard
        self.alphabet = ALPHABET if hard else WESTERN
        self.confusing = Confusing(self.rng, self.word)
        self.foreign = Foreign(self.rng, self.words)

    # ---- prose -------------------------------------------------------------------------
    def prose_window(self, target: int) -> str:
        """A run of whole words of about ``target`` characters from a random paragraph."""
        r = self.rng
        name = r.choices(self.prose_names, self.prose_weights)[0]
        words = r.choice(self.prose[name]).split(" ")
        start = 0 if r.random() < 0.25 else r.randrange(len(words))
        out: list[str] = []
        size = 0
        for w in words[start:]:
            if out and size + 1 + len(w) > target:
                break
            out.append(w)
            size += len(w) + 1
        return " ".join(out)

    def word(self) -> str:
        """One dictionary word, mostly English."""
        r = self.rng
        if not self.words:
            return r.choice(self.prose_window(60).split(" "))
        name = "words_en" if r.random() < 0.6 else r.choice(list(self.words))
        return r.choice(self.words[name])

    # ---- generated pieces ----------------------------------------------------------------
    def digits(self, low: int, high: int) -> str:
        return "".join(self.rng.choices(string.digits, k=self.rng.randint(low, high)))

    def number(self) -> str:
        r = self.rng
        kind = r.randrange(6)
        if kind == 0:
            return self.digits(1, 8)
        if kind == 1:
            return f"{r.randrange(10 ** r.randint(1, 8)):,}"
        if kind == 2:
            return f"{r.random() * 10 ** r.randint(0, 5):.{r.randint(1, 3)}f}"
        if kind == 3:
            return f"{r.random() * 100:.{r.randint(0, 2)}f}{r.choice(['%', ' %', '°', ' °C', ' kg', ' mm', ' GB', 'x'])}"
        if kind == 4:
            return f"{r.choice('-+±−'.replace('−', '-'))}{r.random() * 1000:.{r.randint(0, 2)}f}"
        return f"({r.randrange(10 ** r.randint(1, 5))})"

    def money(self) -> str:
        r = self.rng
        value = f"{r.random() * 10 ** r.randint(1, 6):,.2f}"
        if r.random() < 0.2:
            value = value.replace(",", "\0").replace(".", ",").replace("\0", ".")
        return r.choice(
            [
                f"${value}",
                f"{value} €",
                f"£{value}",
                f"EUR {value}",
                f"USD {value}",
                f"€{value}",
                f"-${value}",
                f"¥{value}",
                f"{value}",
            ]
        )

    def date(self) -> str:
        r = self.rng
        d, m, y = r.randint(1, 28), r.randint(1, 12), r.randint(1900, 2035)
        mon = r.choice(MONTHS)
        return r.choice(
            [
                f"{d:02d}/{m:02d}/{y}",
                f"{y}-{m:02d}-{d:02d}",
                f"{d}.{m}.{y}",
                f"{mon} {d}, {y}",
                f"{d} {mon} {y}",
                f"{r.choice(DAYS)}, {d} {mon} {y}",
                f"{m}/{d}/{y % 100:02d}",
                f"{d:02d}-{mon[:3].upper()}-{y}",
                f"{r.randint(0, 23):02d}:{r.randint(0, 59):02d}",
                f"{r.randint(1, 12)}:{r.randint(0, 59):02d} {r.choice(['AM', 'PM', 'a.m.', 'p.m.'])}",
            ]
        )

    def code(self) -> str:
        r = self.rng
        upper = string.ascii_uppercase
        block = lambda a, n: "".join(r.choices(a, k=n))  # noqa: E731
        return r.choice(
            [
                f"INV-{self.digits(4, 8)}",
                f"{block(upper, r.randint(1, 4))}-{self.digits(2, 6)}",
                f"{block(upper + string.digits, r.randint(4, 12))}",
                f"#{self.digits(3, 9)}",
                f"{self.digits(2, 4)}-{self.digits(2, 5)}-{self.digits(2, 4)}",
                f"{block(upper, 2)}{self.digits(2, 2)} {self.digits(4, 4)} {self.digits(4, 4)} {self.digits(4, 4)}",
                f"{block('0123456789abcdef', r.randint(6, 16))}",
                f"No. {self.digits(1, 6)}/{self.digits(2, 4)}",
                f"v{r.randint(0, 20)}.{r.randint(0, 30)}.{r.randint(0, 9)}",
                f"{block(string.ascii_letters + string.digits, r.randint(5, 14))}",
            ]
        )

    def phone(self) -> str:
        d = self.digits
        return self.rng.choice(
            [
                f"+{d(1, 2)} {d(2, 3)} {d(3, 4)} {d(3, 4)}",
                f"({d(3, 3)}) {d(3, 3)}-{d(4, 4)}",
                f"{d(3, 3)}-{d(3, 3)}-{d(4, 4)}",
                f"0{d(3, 4)}/{d(5, 7)}",
            ]
        )

    def plain_word(self) -> str:
        return re.sub("[^a-z]", "", self.word().lower()) or "info"

    def email(self) -> str:
        r, w = self.rng, self.plain_word
        return f"{w()}{r.choice(['.', '_', '-', ''])}{w()}@{w()}.{r.choice(TLDS)}"

    def url(self) -> str:
        r, w = self.rng, self.plain_word
        return (
            f"{r.choice(['https://', 'http://', 'www.', 'https://www.', ''])}{w()}.{r.choice(TLDS)}/{'/'.join(w() for _ in range(r.randint(0, 3)))}"
            + r.choice(["", ".html", f"?id={self.digits(1, 4)}", "/"])
        )

    def label(self) -> str:
        r = self.rng
        text = " ".join(r.sample(LABELS, r.randint(1, 2)))
        return (text.upper() if r.random() < 0.2 else text) + r.choice([":", ":", "", " #", "."])

    def name(self) -> str:
        r = self.rng
        return " ".join(self.word().capitalize() for _ in range(r.randint(1, 3)))

    def address(self) -> str:
        r = self.rng
        return r.choice(
            [
                f"{self.digits(1, 4)} {self.word().capitalize()} {r.choice(['Street', 'St.', 'Ave.', 'Road', 'Blvd.', 'Lane'])}, {self.word().capitalize()} {self.digits(5, 5)}",
                f"{self.word().capitalize()}straße {self.digits(1, 3)}, {self.digits(5, 5)} {self.word().capitalize()}",
                f"P.O. Box {self.digits(2, 5)}, {self.word().capitalize()}",
            ]
        )

    def bracketed(self) -> str:
        r = self.rng
        left, right = r.choice(
            ["()", "[]", "{}", "<>", "“”", "‘’", "«»", '""', "''", "||", "**", "__"]
        )
        return f"{left}{self.word()}{right}"

    def symbols(self) -> str:
        """Words interleaved with characters drawn uniformly, so that rare glyphs get trained."""
        r = self.rng
        alphabet = r.choice(
            [
                string.punctuation,
                TYPOGRAPHIC,
                LATIN,
                self.alphabet[1:],
                string.punctuation + string.digits,
            ]
        )
        out = []
        for _ in range(r.randint(1, 4)):
            token = self.word() if r.random() < 0.5 else self.number()
            mark = "".join(r.choices(alphabet, k=r.randint(1, 2)))
            out.append(
                r.choice(
                    [
                        token + mark,
                        mark + token,
                        token + " " + mark,
                        token[: len(token) // 2] + mark + token[len(token) // 2 :],
                    ]
                )
            )
        return " ".join(out)

    def math(self) -> str:
        r = self.rng
        v = lambda: r.choice([self.number(), r.choice(string.ascii_letters), r.choice("xyzabnk")])  # noqa: E731
        return f"{v()} {r.choice('+-*/=<>×±')} {v()} {r.choice(['=', '<', '>', '<=', '>=', '!=', '=='])} {v()}"

    def piece(self) -> str:
        r = self.rng
        makers = (
            self.number,
            self.money,
            self.date,
            self.code,
            self.phone,
            self.email,
            self.url,
            self.name,
            self.address,
            self.bracketed,
            self.symbols,
            self.math,
            self.word,
            self.label,
        )
        return r.choices(makers, (3, 3, 3, 3, 1, 1, 1.5, 1.5, 1, 1.2, 3, 1, 2, 1.5))[0]()

    def look_alike(self) -> str:
        """A code of letters and digits that are easily taken for each other."""
        r = self.rng
        pick = lambda: r.choice(r.choice(LOOK_ALIKES)) if r.random() < 0.6 else r.choice(ALNUM)  # noqa: E731
        blocks = ["".join(pick() for _ in range(r.randint(1, 5))) for _ in range(r.randint(1, 4))]
        return r.choice((" ", "-", " ", "/", ".")).join(blocks)

    def rare(self, text: str) -> str:
        """Text in which accents and rare marks cannot be guessed from the words."""
        r = self.rng
        kind = r.random()
        if kind < 0.4:
            share = r.uniform(0.2, 0.8)
            return "".join(
                r.choice(ACCENTED[c]) if ACCENTED.get(c) and r.random() < share else c for c in text
            )
        if kind < 0.7:
            return f"{text[: len(text) // 2].rsplit(' ', 1)[0]} {self.symbols()}"
        alphabet = r.choice((LATIN, CENTRAL, TYPOGRAPHIC, self.alphabet[1:], self.alphabet[1:]))
        return "".join(r.choices(alphabet, k=r.randint(1, 14)))

    def punctuate(self, text: str) -> str:
        """Marks after some words, and some words or runs of words in quotes."""
        r, out, close = self.rng, [], ""
        for word in text.split(" "):
            mark = r.choice(MARKS) if word[-1:].isalnum() and r.random() < 0.25 else ""
            if not close and word[:1].isalnum() and r.random() < 0.12:
                opening, close = r.choice(QUOTES)
                word = opening + word
            if close and r.random() < 0.35:
                word += mark + close if r.random() < 0.7 else close + mark
                close = mark = ""
            out.append(word + mark)
        return " ".join(out)

    # ---- whole lines -----------------------------------------------------------------------
    def structured(self, target: int) -> str:
        """Field lines, table-like rows and mixes of generated pieces."""
        r = self.rng
        parts: list[str] = []
        if r.random() < 0.5:
            parts.append(self.label())
        while sum(map(len, parts)) + len(parts) < target:
            parts.append(self.piece())
            if r.random() < 0.25:
                break
        separated = self.hard and r.random() < SEPARATED_SHARE
        return (r.choice(SEPARATORS) if separated else " ").join(parts)

    def target_length(self) -> int:
        """A mixture of short, medium and full-line lengths."""
        if self.hard and self.rng.random() < LONG_SHARE:
            return self.rng.randint(*LONG)
        u = self.rng.random()
        if u < 0.18:
            return self.rng.randint(1, 12)
        if u < 0.45:
            return self.rng.randint(10, 30)
        return self.rng.randint(28, 66)

    def line(self, target: int | None = None, max_chars: int = 76) -> str:
        """One normalised line, never empty, only supported characters."""
        r = self.rng
        if target is None:
            target = self.target_length()
        while True:
            u = r.random()
            if u < 0.62:
                foreign = self.hard and self.foreign.words and r.random() < FOREIGN_SHARE
                text = self.foreign.line(target) if foreign else self.prose_window(target)
            elif u < 0.70:
                text = " ".join(self.word() for _ in range(max(1, round(target / 8))))
            elif u < 0.97:
                text = self.structured(target)
            else:
                text = "".join(r.choices(self.alphabet[1:], k=min(target, r.randint(1, 8))))
            v = r.random()
            if v < 0.05:
                text = text.upper()
            elif v < 0.09:
                text = text.title()
            elif v < 0.10:
                text = text.lower()
            if r.random() < 0.03:
                text = (
                    r.choice(
                        [
                            "• ",
                            "- ",
                            "– ",
                            f"{r.randint(1, 30)}. ",
                            f"({r.choice('abcdefivx')}) ",
                            f"{r.randint(1, 9)}.{r.randint(1, 20)} ",
                            "* ",
                            "§ ",
                        ]
                    )
                    + text
                )
            if r.random() < 0.25:
                text = self._typographic(text)
            if self.hard:
                text = self.harder(text)
            text = " ".join("".join(c for c in text if c in CHARSET).split())
            if len(text) > max_chars:
                text = text[:max_chars].rsplit(" ", 1)[0].strip()
            if text:
                return text

    def harder(self, text: str) -> str:
        """Sometimes adds what is easily confused."""
        u = self.rng.random()
        if u < PUNCTUATED_SHARE:
            return self.punctuate(text)
        if u < PUNCTUATED_SHARE + LOOK_ALIKE_SHARE:
            cut = text[: max(0, len(text) - 14)].rsplit(" ", 1)[0]
            return f"{cut} {self.look_alike()}" if self.rng.random() < 0.5 else self.look_alike()
        if u < PUNCTUATED_SHARE + LOOK_ALIKE_SHARE + RARE_SHARE:
            return self.rare(text)
        if u < PUNCTUATED_SHARE + LOOK_ALIKE_SHARE + RARE_SHARE + CONFUSING_SHARE:
            return self.confusing.line(text)
        return text

    def _typographic(self, text: str) -> str:
        """Straight to curly quotes and dashes."""
        text = re.sub(r"(\w)'(\w)", r"\1’\2", text)
        text = re.sub(r'(^|[\s(])"', r"\1“", text).replace('"', "”")
        text = re.sub(r"(^|[\s(])'", r"\1‘", text).replace("'", "’")
        return (
            text.replace(" -- ", self.rng.choice(["—", " — ", " – "]))
            .replace(" - ", " – ")
            .replace("...", "…")
        )
