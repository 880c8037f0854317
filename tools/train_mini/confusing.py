"""Text whose characters are most often taken for others: figures with signs, references full of
marks, dashes and hyphens, leaders."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

# What the model answers for a leader of any length (see ``leader`` in render.py).
LEADER = "..."
HYPHENS = ("-", "-", "–", "—")
UNITS = "%| %|%|°|° C|°C|°F| €|€| £|½|¼|¾| kg| cm|²|³".split("|")
JOURNALS = (
    "J. Chem. Soc.|Phil. Trans. R. Soc.|Ann. Phys.|Proc. Nat. Acad. Sci.|Am. J. Math.|Z. Phys.|"
    "Ber. dtsch. chem. Ges.|C. R. Acad. Sci.|Bull. Soc. Math. Fr.|Trans. Am. Math. Soc."
).split("|")


class Confusing:
    """Draws such lines; ``word`` gives a word of the corpora."""

    def __init__(self, rng: random.Random, word: Callable[[], str]) -> None:
        self.rng, self.word = rng, word

    def line(self, text: str) -> str:
        """One of the kinds below, or ``text`` with one of them behind it."""
        r = self.rng
        makers = (self.figures, self.reference, self.dashes, self.contents, self.sections)
        made = r.choices(makers, (5, 3, 3, 2, 2))[0]()
        cut = text[: max(0, len(text) - len(made))].rsplit(" ", 1)[0]
        return f"{cut} {made}" if r.random() < 0.4 else made

    def figure(self) -> str:
        """A number as typed in accounts and tables, with signs and both kinds of separators."""
        r = self.rng
        whole = r.randrange(10 ** r.randint(1, 7))
        cents = f"{r.randrange(100):02d}"
        text = r.choice(
            (
                f"{whole:,}.{cents}",
                f"{whole:,}".replace(",", ".") + f",{cents}",
                f"{whole}.{r.randrange(1000)}",
                f"{whole:,}",
                f"{whole}",
                f"{r.randrange(100)}.{r.randrange(10)}",
                f"{whole:,}".replace(",", " "),
                f"{r.randint(1, 12)}:{r.randrange(60):02d}",
                f"{r.randrange(30)}/{r.randint(1, 12)}/{r.randrange(100):02d}",
            )
        )
        u = r.random()
        if u < 0.2:
            return r.choice("$€£¥§#±-+") + text
        if u < 0.5:
            return text + r.choice(UNITS)
        return f"({text})" if u < 0.56 else text

    def figures(self) -> str:
        """A row of figures, sometimes with a word before it."""
        r = self.rng
        row = " ".join(self.figure() for _ in range(r.randint(1, 6)))
        return f"{self.word()}{r.choice((':', '', ' =', ','))} {row}" if r.random() < 0.4 else row

    def initials(self) -> str:
        r = self.rng
        return " ".join(f"{c}." for c in r.choices(string.ascii_uppercase, k=r.randint(1, 2)))

    def author(self) -> str:
        return f"{self.word().capitalize()}, {self.initials()}"

    def reference(self) -> str:
        """A printed reference: initials, abbreviations, volumes and pages."""
        r = self.rng
        year, first = r.randint(1850, 2024), r.randint(1, 2000)
        pages = f"{first}{r.choice(('-', '–', '; ', ', '))}{first + r.randint(1, 30)}"
        volume, journal, title = r.randint(1, 180), r.choice(JOURNALS), self.word().capitalize()
        return r.choice(
            (
                f"{self.author()}; {self.author()} {journal} {year}, {volume}, {pages}.",
                f"{self.initials()} {title}, {journal}, {volume}, {pages} ({year}).",
                f"[{r.randint(1, 99)}] {self.author()}: {title}, vol. {volume}, pp. {pages}",
                f"cf. {self.word()}; v. {self.word()}, l. {r.randint(1, 99)}; ibid., p. {first}.",
            )
        )

    def dashes(self) -> str:
        """Compounds, ranges, dashes between words, a word broken at the end of the line."""
        r, w = self.rng, self.word
        a, b = r.randint(1, 99), r.randint(100, 2000)
        parts = [
            r.choice(
                (
                    f"{w()}-{w()}",
                    f"{a}{r.choice(HYPHENS)}{b}",
                    f"{w()}{r.choice(('—', ' — ', ' – ', '--', ' - '))}{w()}",
                    f"{w()}-{w()}-{w()}",
                    f"-{a}",
                    f"{w()}, {w()};",
                    f"{b}-{r.randrange(100):02d}",
                )
            )
            for _ in range(r.randint(1, 4))
        ]
        last = w()
        if len(last) > 4 and r.random() < 0.5:
            parts.append(last[: r.randint(2, len(last) - 2)] + "-")
        return " ".join(parts)

    def contents(self) -> str:
        """An entry of a table of contents or a price list with its leader.

        A layout may have cut off the number or the title.
        """
        r = self.rng
        title = " ".join(self.word() for _ in range(r.randint(1, 4))).capitalize()
        number = f"{r.randint(1, 12)}.{r.randint(1, 12)} " if r.random() < 0.4 else ""
        page = r.choice((str(r.randint(1, 600)), self.figure(), r.choice(("iv", "xii", "vii"))))
        u = r.random()
        if u < 0.3:
            return f"{number}{title} {LEADER}"
        return f"{LEADER} {page}" if u < 0.4 else f"{number}{title} {LEADER} {page}"

    def sections(self) -> str:
        """Paragraph signs, degrees and footnote marks where law and science set them."""
        r = self.rng
        n = lambda top: r.randint(1, top)  # noqa: E731
        return r.choice(
            (
                f"§ {n(900)} {r.choice(('Abs.', 'para.', 'al.'))} {n(9)}",
                f"§§ {n(99)}-{n(999)}; §{n(99)}({r.choice('abc')})",
                f"{n(89)}° {n(59)}' {r.choice('NSEW')}",
                f"{n(400)}°{r.choice(('C', 'F', ' C.', ''))}, {n(99)}.{n(9)}%",
                f"{self.word()}{r.choice('†**²³')} {self.word()};",
                f"{n(99)}½ x {n(99)}¼ @ {n(9)}.{n(99):02d}",
            )
        )
