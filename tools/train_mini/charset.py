"""The characters the model is trained to read (also the CTC alphabet)."""

from __future__ import annotations

ASCII = "".join(chr(c) for c in range(32, 127))
TYPOGRAPHIC = "‘’“”–—…•€£§°©®½¼¾×±«»¿¡µ²³™·†¢¥"
LATIN = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒ"
# Letters of Polish, Czech, Slovak, Hungarian, Romanian, Turkish, Croatian, Slovenian, Estonian,
# Latvian and Lithuanian that Western European languages lack, and their low opening quote.
CENTRAL = "ąćęłńśźżčďěňřšťůžĺľŕőűășțğışđāēģīķļņūėįų"
CENTRAL += "ĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽĹĽŔŐŰĂȘȚĞİŞĐĀĒĢĪĶĻŅŪĖĮŲ„"

# New characters go to the end: the classes of the CTC heads follow this order (state.py).
WESTERN = ASCII + TYPOGRAPHIC + LATIN
ALPHABET = WESTERN + CENTRAL
CHARSET = frozenset(ALPHABET)
# index 0 is the CTC blank
CHAR_TO_INDEX = {c: i + 1 for i, c in enumerate(ALPHABET)}
