#!/usr/bin/env python3
"""Writes pieces.json: how each split rule cuts each text, by Python's `regex` package (pip install regex).

    make_pieces.py [TOKENIZER_FIXTURES] > pieces.json

Texts: texts.json beside this file, and the texts of the *.json files in TOKENIZER_FIXTURES. A text stands as the first
16 digits of its SHA-256; for each rule, in the order of "rules", 8 digits of the SHA-256 over the pieces, each written as
its length in bytes, a colon, and its bytes.
"""
import hashlib
import json
import pathlib
import sys

import regex

C = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
MARKS = r"[\p{P}\$\+<=>\^~\|`]+"
LLAMA3 = C + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL
U, L = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def cased(upper, lower, suffix, numbers, tail):
    lead = r"[^\r\n\p{L}\p{N}]?"
    return "|".join([lead + upper + "*" + lower + "+" + suffix, lead + upper + "+" + lower + "*" + suffix, numbers,
                     r" ?[^\s\p{L}\p{N}]+" + tail, TAIL])


GPT4O = cased(U, L, C + "?", r"\p{N}{1,3}", r"[\r\n/]*")
# The letters that DeepSeek LLM's tokenizer.json lists.
LETTERS = [tuple(int(x, 16) for x in r.split("-")) for r in """
41-5A 61-7A B5-B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376-377 37B-37D 37F-37F 386-386 388-38A 38C-38C
38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA 1CBD-1CBF 1D00-1D2B 1D6B-1D77 1D79-1D9A
1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59-1F59 1F5B-1F5B 1F5D-1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE-1FBE
1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 1FF6-1FFC 2102-2102 2107-2107 210A-2113 2115-2115 2119-211D
2124-2124 2126-2126 2128-2128 212A-212D 212F-2134 2139-2139 213C-213F 2145-2149 214E-214E 2183-2184 2C00-2C7B 2C7E-2CE4
2CEB-2CEE 2CF2-2CF3 A640-A66D A680-A69B A722-A76F A771-A787 A78B-A78E AB70-ABBF FB00-FB06 FB13-FB17 FF21-FF3A FF41-FF5A
10400-1044F 104B0-104D3 104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF 1E900-1E943""".split()]
LETTER_CLASS = "[" + "".join(chr(a) + "-" + chr(b) for a, b in LETTERS) + "]"
CJK = "[一-龥ࠀ-一가-퟿]+"
BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
HAN_U, HAN_L = "[" + U + r"&&[^\p{Han}]]", "[" + L + r"&&[^\p{Han}]]"

RULES = {
    "default": [MARKS, GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "llama-bpe": [LLAMA3],
    "dbrx": [LLAMA3],
    "qwen2": [LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")],
    "qwen35": [C + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + TAIL],
    "gpt-2": [GPT2],
    "roberta-bpe": [GPT2],
    "starcoder": [r"\p{N}", GPT2],
    "falcon": [MARKS, GPT2, "[0-9][0-9][0-9]"],
    "deepseek-llm": [r"[\r\n]", r"\s?" + LETTER_CLASS + "+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", CJK, r"\p{N}+"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|""" + TAIL],
    "gpt-4o": [GPT4O],
    "tekken": [cased(U, L, "", r"\p{N}", r"[\r\n/]*")],
    "tiny_aya": [r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O],
    "seed-coder": [C + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|" + TAIL],
    "bailingmoe": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "bloom": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    "kimi-k2": [r"(?V1)[\p{Han}]+|" + cased(HAN_U, HAN_L, C + "?", r"\p{N}{1,3}", r"[\r\n]*")],
    "minicpm5": [r"\p{N}{1,3}", LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}+")],
    "gemma4": [r"[^\n]+|[\n]+"],
}


def split(passes, text):
    pieces = [text] if text else []
    for rule in passes:
        out = []
        for piece in pieces:
            done = 0
            for m in rule.finditer(piece):
                for part in (piece[done:m.start()], m.group()):
                    if part:
                        out.append(part)
                done = m.end()
            if done < len(piece):
                out.append(piece[done:])
        pieces = out
    return pieces


def digest(pieces):
    h = hashlib.sha256()
    for piece in pieces:
        data = piece.encode()
        h.update(str(len(data)).encode() + b":" + data)
    return h.hexdigest()[:8]


def main():
    texts = set(json.loads((pathlib.Path(__file__).parent / "texts.json").read_text()))
    if len(sys.argv) > 1:
        for path in pathlib.Path(sys.argv[1]).glob("*.json"):
            cases = json.loads(path.read_text())
            if isinstance(cases, list):
                texts.update(c["text"] for c in cases if isinstance(c, dict) and "text" in c)
    compiled = {name: [regex.compile(r) for r in passes] for name, passes in RULES.items()}
    lines = []
    for text in texts:
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        lines.append('"%s": "%s"' % (key, " ".join(digest(split(p, text)) for p in compiled.values())))
    print('{"rules": %s,\n"texts": {\n%s\n}}' % (json.dumps(list(RULES)), ",\n".join(sorted(lines))))


main()
