"""The characters the model is trained to read (also the CTC alphabet)."""

from __future__ import annotations

ASCII = "".join(chr(c) for c in range(32, 127))
TYPOGRAPHIC = "‘’“”–—…•€£§°©®½¼¾×±«»¿¡µ²³™·†¢¥"
LATIN = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒ"

ALPHABET = ASCII + TYPOGRAPHIC + LATIN
CHARSET = frozenset(ALPHABET)
# index 0 is the CTC blank
CHAR_TO_INDEX = {c: i + 1 for i, c in enumerate(ALPHABET)}
