"""Train the small byte-level BPE and assemble tokenizer.json in the layout of the real one:
ids 0..255 = bytes in byte order, then merged tokens, then the 36 added tokens; ignore_merges on; more merges than tokens."""
import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>", "<|assistant|>",
           "<|observation|>", "<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>",
           "<|begin_of_audio|>", "<|end_of_audio|>", "<|begin_of_transcription|>", "<|end_of_transcription|>",
           "<|code_prefix|>", "<|code_middle|>", "<|code_suffix|>"]
PLAIN = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<arg_key>",
         "</arg_key>", "<arg_value>", "</arg_value>", "/nothink", "<|begin_of_box|>", "<|end_of_box|>", "<|image|>", "<|video|>"]
# Words that are vocabulary entries without any merge path: only reachable through ignore_merges.
UNMERGEABLE = [" Recognition", "Invoice", "文本识别", " überall"]

CORPUS = """
Text Recognition: Table Recognition: Formula Recognition: the quick brown fox jumps over the lazy dog and then the other one.
Invoice No. 20240131-0042, total $1,234,567.89 (12.5%). Payment is due within thirty days of the invoice date.
| a | b |\n|---|---|\n| 1 | 2 |\n# Heading\n\n- item one\n- item two\n\n1. first\n2. second\n```json\n{"key": "", "value": [1, 2, 3]}\n```
请按下列JSON格式输出图中信息: 中文文本识别 表格识别 公式识别 今天天气很好 我们去公园散步 识别文本 中文 文本
한국어 텍스트 인식 문서 처리 시스템 오늘 날씨가 좋습니다 日本語のテキスト認識 これは文書です カタカナ ひらがな
don't I'll we've she'd they're it's THEY'RE I'M can't won't couldn't you'd
emoji 😀😃 and éè café naïve façade Straße Größe überall señor niño Прописные буквы русский текст документ ελληνικά κείμενο עברית العربية हिन्दी ไทย
def main(args):\n    for i in range(10):\n        print(i, args[i])\n    return None\n\tif (x >= 3 && y != 0) { z += 1; }\r\n
\\frac{a}{b} + \\sqrt{x^2 + y^2} = \\sum_{i=0}^{n} \\alpha_i \\beta_i <table><tr><td>cell</td><td>12.50</td></tr></table>
The archive holds scanned letters, ledgers, maps and printed reports from several towns; every page was numbered by hand.
In the second volume the clerk recorded births, marriages and deaths, with the names of the witnesses and the parish.
"""


def byte_to_unicode():
    """GPT-2 byte <-> printable character map."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {}, 0
    for b in range(256):
        table[b] = chr(b) if b in keep else chr(256 + extra)
        extra += b not in keep
    return table


def build(n_merged, path, corpus=CORPUS):
    """Train on `corpus`, keep `n_merged` merged tokens, write tokenizer.json; returns {token: id}."""
    b2u = byte_to_unicode()
    encode = lambda s: "".join(b2u[b] for b in s.encode("utf-8"))
    trainer_tok = Tokenizer(models.BPE())
    trainer_tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trainer_tok.train_from_iterator([corpus] * 3, trainers.BpeTrainer(
        vocab_size=256 + n_merged, initial_alphabet=list(b2u.values()), show_progress=False))
    trained = json.loads(trainer_tok.to_str())["model"]
    merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in trained["merges"]][: n_merged - len(UNMERGEABLE)]
    no_path = {encode(w) for w in UNMERGEABLE}
    vocab = {b2u[b]: b for b in range(256)}
    for a, b in merges:
        vocab.setdefault(a + b, len(vocab))
    for word in sorted(no_path):
        vocab.setdefault(word, len(vocab))
    # Further merge paths at the end of the list (the real file has more merges than tokens).
    merges = [m for m in merges if m[0] + m[1] not in no_path]
    seen, extra = set(merges), []
    for tok in [a + b for a, b in merges]:
        for cut in range(1, len(tok)):
            pair = (tok[:cut], tok[cut:])
            if pair not in seen and pair[0] in vocab and pair[1] in vocab:
                extra.append(pair)
                seen.add(pair)
    tok = Tokenizer(models.BPE(vocab=vocab, merges=merges + extra, ignore_merges=True, byte_fallback=False))
    tok.pre_tokenizer = trainer_tok.pre_tokenizer
    tok.decoder = decoders.ByteLevel(add_prefix_space=True, trim_offsets=True, use_regex=True)
    for words, special in ((SPECIAL, True), (PLAIN, False)):
        tok.add_tokens([AddedToken(w, special=special, normalized=False, lstrip=False, rstrip=False, single_word=False)
                        for w in words])
    path.parent.mkdir(parents=True, exist_ok=True)
    tok.save(str(path))
    return tok.get_vocab(with_added_tokens=True)
