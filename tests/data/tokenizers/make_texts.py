#!/usr/bin/env python3
"""Writes texts.json: the texts that the tokenizer tests use where no other fixtures are. All of them are our own.

    make_texts.py > texts.json
"""
import json
import random

SENTENCES = [
    "The stove was warm before the house woke up.", "She doesn't know what they've planned, but we'll see.",
    "I'M SURE IT'S FINE; YOU'RE LATE AND I'D RATHER GO.", "A kettle costs $12.50, not 1,250 or 12345678 cents.",
    "Der Ofen wärmt die Stube, während draußen Schnee fällt.", "Le poêle réchauffe la pièce où nous mangeons déjà.",
    "Печка греет дом, пока за окном идёт снег.", "Η σόμπα ζεσταίνει το σπίτι.", "火炉让房子暖和起来，外面下着雪。",
    "ストーブは家を暖めます。カタカナ、ひらがな、漢字。", "난로가 집을 따뜻하게 합니다.", "เตาผิงทำให้บ้านอบอุ่น",
    "الموقد يدفئ البيت في الشتاء ١٢٣٤٥.", "התנור מחמם את הבית.", "चूल्हा घर को गर्म रखता है १२३४।", "ẅ ë̂ x̧y e\u0301a\u0300 \u1e9e ǅ ʰʷ",
    "fox‘s it’s ‚quoted‘ “words” — dash … 'S 'ſ 'RE 'll", "def warm(room: str, by=2.5) -> int:\n    return len(room) ** 2  # twice\n",
    "for (int i = 0; i < 10; ++i) {\n\tsum += a[i] * b[i];\n}\n", "https://hearth.example/path?q=warm+room&n=42#top",
    "a_b_c snake_case camelCase PascalCase SCREAMING_CASE kebab-case", "{\"room\": [1, 22, 333, 4444, 55555], \"warm\": true}",
    "\t\ttabs\t and  two   three    four spaces ", "line\nline\r\nline\n\n\n  \n end\n", " leading", "trailing ", "   ", "\n", "\r\n\r\n", "",
    "½ ¾ ² ³ ① Ⅷ ٣ 𝟘𝟙 1½ 12² 3rd 1000000 1_000_000 0x1F 1e-5", "12ab 123ab 1234ab 12345 ab123456 1234567. 1234567ⓐ 12é",
    "🔥🏠 👩‍🚒 🇩🇪🇫🇷 👍🏽 ❤️ 🧑🏾‍🤝‍🧑🏻", "\u00a0nbsp\u2003em\u3000wide\u200bzero\u180emvs\u2028line\u0085nel", "▁block Ġbpe \u0000nul \u0007bell \ufffd",
    "!!!???...,,,;;;:::---===+++", "`~!@#$%^&*()-_=+[]{}\\|;:'\",.<>/?", "<s></s><unk><|endoftext|><0x0A>[CLS][MASK]", "々〇〻⺀⼀ 一二三abc漢字かな",
    "Zürich naïve façade Ærø œuvre ŁÓDŹ İstanbul ıspanak", "ᄀᄁ각 ﬁﬂ ﷺ ｆｕｌｌ ＷＩＤＴＨ １２３", "a" * 70, "ab" * 40, " " * 70 + "x", "0" * 70, "\n" * 40 + "x", "é" * 50,
]

POOLS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCXYZ", "0123456789", "     \t\n\r\u00a0\u2009", "!?.,;:'\"()[]{}<>+-*/=_$%&#@^~|`", "äöüßéèñçøåœ",
    "абвгдежЗИК", "αβγδεΑΒ", "一二三火炉房子", "あいうアイウ", "가나다라", "०१२३٠١٢٣²³½Ⅷ①", "\u0301\u0308\u0327\u20dd\u200d\ufe0f", "🔥🏠👍🏽🇩🇪", "ʰˠǅẞⓐ€£±×÷©™",
    "กขค็่", "ابتث", "אבג",
]


def main():
    rng = random.Random(20261130)
    texts = list(SENTENCES)
    for _ in range(120):
        pools = rng.sample(POOLS, rng.randint(1, 5))
        texts.append("".join(rng.choice(rng.choice(pools)) * rng.choice([1, 1, 1, 1, 2, 3, 5]) for _ in range(rng.randint(1, 40))))
    json.dump(texts, __import__("sys").stdout, indent=0)
    print()


main()
