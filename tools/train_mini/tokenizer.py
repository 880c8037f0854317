"""Build a small byte-level BPE tokenizer laid out like GLM-OCR's.

By default it has the 256 bytes and no merges.

Ids 0..255 are the single bytes in byte order, then merged tokens, then the 36
named added tokens in GLM-OCR's relative order, then unused padding rows.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# (token, special flag), GLM-OCR order
ADDED: list[tuple[str, bool]] = [
    (t, True)
    for t in (
        "<|endoftext|>",
        "[MASK]",
        "[gMASK]",
        "[sMASK]",
        "<sop>",
        "<eop>",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
        "<|observation|>",
        "<|begin_of_image|>",
        "<|end_of_image|>",
        "<|begin_of_video|>",
        "<|end_of_video|>",
        "<|begin_of_audio|>",
        "<|end_of_audio|>",
        "<|begin_of_transcription|>",
        "<|end_of_transcription|>",
        "<|code_prefix|>",
        "<|code_middle|>",
        "<|code_suffix|>",
    )
]
ADDED += [
    (t, False)
    for t in (
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<tool_response>",
        "</tool_response>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "/nothink",
        "<|begin_of_box|>",
        "<|end_of_box|>",
        "<|image|>",
        "<|video|>",
    )
]
PROMPT = "Text Recognition:"


def byte_map() -> list[str]:
    """GPT-2 byte to printable character map, indexed by byte value."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + extra)
            extra += 1
    return [table[b] for b in range(256)]


def train(texts: list[str], base_vocab: int, vocab_size: int) -> str:
    """tokenizer.json content: ``base_vocab`` BPE entries, at most ``vocab_size`` ids."""
    tok = Tokenizer(models.BPE(ignore_merges=True))
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=base_vocab,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tok.train_from_iterator((re.sub(r"\d", " ", t) for t in texts), trainer)
    data = json.loads(tok.to_str())
    merges = [
        m if isinstance(m, list) else m.split(" ")
        for m in (data["model"]["merges"] if base_vocab > 256 else [])
    ]
    vocab = {c: i for i, c in enumerate(byte_map())}
    for a, b in merges:
        vocab.setdefault(a + b, len(vocab))
    data["model"]["vocab"], data["model"]["merges"] = vocab, merges
    data["added_tokens"] = [
        {
            "id": len(vocab) + i,
            "content": t,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": s,
        }
        for i, (t, s) in enumerate(ADDED)
    ]
    if len(vocab) + len(ADDED) > vocab_size:
        raise ValueError("base vocabulary too large")
    return json.dumps(data, ensure_ascii=False)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--corpus", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--base-vocab", type=int, default=256)
    ap.add_argument("--vocab-size", type=int, default=320)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    data: dict[str, list[str]] = json.loads(args.corpus.read_text())
    rng = random.Random(args.seed)
    texts = [PROMPT] * 4000
    for name, paras in data.items():
        texts += rng.sample(paras, min(len(paras), 3000 if name.startswith("words_") else 2500))
    args.out.write_text(train(texts, args.base_vocab, args.vocab_size))
    tok = Tokenizer.from_file(str(args.out))
    print(tok.encode(PROMPT).tokens, tok.token_to_id("<|image|>"))
    sample = "Invoice No. 20240131-0042, total $1,234,567.89 (12.5%) is due “now” – café"
    enc = tok.encode(sample)
    print(enc.tokens, tok.decode(enc.ids) == sample)


if __name__ == "__main__":
    main()
