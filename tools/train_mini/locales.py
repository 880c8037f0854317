"""Words, names and short phrases of European languages from CLDR, Faker and Snowball's word lists.

No text of these languages comes with a free package, so their lines are made: words of the language
in random order with its quotes, capitals and marks.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sources import r_data

# language -> Faker locales, name of Snowball's word list
LANGUAGES: dict[str, tuple[tuple[str, ...], str | None]] = {
    "fr": (("fr_FR",), "french"),
    "de": (("de_DE", "de_AT"), "german"),
    "es": (("es_ES", "es_MX"), "spanish"),
    "it": (("it_IT",), "italian"),
    "pt": (("pt_PT", "pt_BR"), "portuguese"),
    "nl": (("nl_NL",), "dutch"),
    "sv": (("sv_SE",), "swedish"),
    "da": (("da_DK",), "danish"),
    "nb": (("no_NO",), "norwegian"),
    "fi": (("fi_FI",), "finnish"),
    "pl": (("pl_PL",), None),
    "cs": (("cs_CZ",), None),
    "sk": (("sk_SK",), None),
    "hu": (("hu_HU",), "hungarian"),
    "ro": (("ro_RO",), "romanian"),
    "tr": (("tr_TR",), "turkish"),
    "hr": (("hr_HR",), None),
    "sl": (("sl_SI",), None),
    "et": (("et_EE",), None),
    "lv": (("lv_LV",), None),
    "lt": (("lt_LT",), "lithuanian"),
}
PROVIDERS = ("lorem", "address", "person", "company", "job", "color", "currency", "date_time")
# Romanian s and t have a comma below, though old data write a cedilla.
COMMA_BELOW = str.maketrans("şţŞŢ", "șțȘȚ")


def strings(value: object) -> Iterator[str]:
    """All strings in nested lists, tuples and dictionaries."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from strings(k)
            yield from strings(v)
    elif isinstance(value, list | tuple | set):
        for v in sorted(value, key=str) if isinstance(value, set) else value:
            yield from strings(v)


def faker_strings(locale: str) -> Iterator[str]:
    """Word lists of Faker's providers of a locale; templates with ``{{`` are left out."""
    for kind in PROVIDERS:
        try:
            module = importlib.import_module(f"faker.providers.{kind}.{locale}")
        except ImportError:
            continue
        for name, value in sorted(vars(module.Provider).items()):
            if not name.startswith("_"):
                yield from (s for s in strings(value) if "{" not in s and "#" not in s)


def cldr_strings(language: str) -> Iterator[str]:
    """Names of countries, languages, currencies, days and months."""
    from babel import Locale

    locale = Locale.parse(language)
    for names in (locale.territories, locale.languages, locale.currencies, locale.scripts):
        yield from (str(v) for _, v in sorted(names.items()))
    for names in (locale.months, locale.days):
        for widths in names.values():
            for values in widths.values():
                yield from (str(v) for v in dict(values).values())


def phrases(language: str, words: Path) -> list[str]:
    """Distinct phrases of a language; ``words`` is the folder of Snowball's lists."""
    locales, snowball = LANGUAGES[language]
    found: list[str] = [s for name in locales for s in faker_strings(name)]
    found += cldr_strings(language)
    if snowball:
        found += r_data(words / f"{snowball}.RData")
    if language == "ro":
        found = [s.translate(COMMA_BELOW) for s in found]
    return distinct(found)


def distinct(found: Iterable[str]) -> list[str]:
    """In order, without doubles, with two letters at least and no code of capitals and digits."""
    keep = (s.strip() for s in found)
    return list(dict.fromkeys(s for s in keep if re.search(r"[^\W\d_]{2}", s) and len(s) < 60))
