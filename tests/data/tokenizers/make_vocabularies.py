#!/usr/bin/env python3
"""Trains small vocabularies on texts.json and writes, for each, NAME.gguf (a vocabulary and no tensors) and NAME.json
(the ids that the library which trained it gives for every text). Needs: pip install gguf tokenizers sentencepiece protobuf

    make_vocabularies.py            writes beside this file
"""
import io
import json
import pathlib

import gguf
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
TEXTS = json.loads((HERE / "texts.json").read_text())
EXTRA = ["<tool>call me</tool> later", "a<tool>b <tool> c", "two  spaces<tool>  here ", "word " * 50, "warm house " * 20]
NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6


def write(name, kind, tokens, types, scores=None, merges=None, pre=None, more=None):
    w = gguf.GGUFWriter(HERE / f"{name}.gguf", "llama")
    w.add_name(f"Hearth test vocabulary {name}")
    w.add_tokenizer_model(kind)
    if pre:
        w.add_tokenizer_pre(pre)
    w.add_token_list(tokens)
    w.add_token_types(types)
    if scores:
        w.add_token_scores(scores)
    if merges is not None:
        w.add_token_merges(merges)
    if more:
        more(w)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def cases(name, encode, decode):
    out = []
    for text in TEXTS + EXTRA:
        ids = encode(text)
        case = {"text": text, "ids": ids}
        if decode:
            case["decoded"] = decode(ids)
        out.append(json.dumps(case))
    (HERE / f"{name}.json").write_text("[\n" + ",\n".join(out) + "\n]\n")


def train_sentencepiece(**options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(t for t in TEXTS * 3 if t.strip()), model_writer=model,
                                             hard_vocab_limit=False, character_coverage=0.99, num_threads=1,
                                             user_defined_symbols=["<tool>"], minloglevel=2, **options)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()), proto


def sentencepiece_vocabulary(name, kind, more, **options):
    sp, proto = train_sentencepiece(**options)
    write(name, kind, [p.piece.encode() for p in proto.pieces], [p.type for p in proto.pieces],
          scores=[p.score for p in proto.pieces], more=lambda w: more(w, proto))
    unknown = sp.unk_id()
    cases(name, sp.encode, None)
    path = HERE / f"{name}.json"
    rows = [json.loads(line.rstrip(",")) for line in path.read_text().splitlines()[1:-1]]
    for row in rows:
        if unknown not in row["ids"]:
            row["decoded"] = sp.decode(row["ids"])
    path.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


def spm(w, proto):
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)
    w.add_add_bos_token(True)


def unigram(w, proto):
    w.add_eos_token_id(1)
    w.add_unk_token_id(2)
    w.add_pad_token_id(0)
    w.add_add_space_prefix(proto.normalizer_spec.add_dummy_prefix)
    w.add_remove_extra_whitespaces(proto.normalizer_spec.remove_extra_whitespaces)
    w.add_precompiled_charsmap(proto.normalizer_spec.precompiled_charsmap)


QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|")


def merges_of(tokenizer):
    return [m if isinstance(m, str) else " ".join(m) for m in json.loads(tokenizer.to_str())["model"]["merges"]]


def ordered(tokenizer):
    return [t for t, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]


def byte_level(name, pre, pattern, ignore_merges):
    t = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TEXTS * 3, trainers.BpeTrainer(vocab_size=700, show_progress=False,
                                                         initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokens, merges = ordered(t), merges_of(t)
    if ignore_merges:
        # A token that no merge reaches, as Llama 3 has them: only the look-up of whole pieces finds it.
        model = json.loads(t.to_str())
        model["model"]["vocab"]["Ġkettle"] = len(tokens)
        model["model"]["merges"] = [m for m in model["model"]["merges"] if "".join(m) != "Ġkettle"]
        if "Ġkettle" not in tokens:
            tokens.append("Ġkettle")
        else:
            model["model"]["vocab"]["Ġkettle"] = tokens.index("Ġkettle")
        t = Tokenizer.from_str(json.dumps(model))
        merges = merges_of(t)
    cases(name, lambda s: t.encode(s).ids, lambda ids: t.decode(ids, skip_special_tokens=False))
    control = ["<|begin|>", "<|end_of_text|>", "<|user|>"]
    write(name, "gpt2", tokens + control, [NORMAL] * len(tokens) + [CONTROL] * 3, merges=merges, pre=pre,
          more=lambda w: (w.add_bos_token_id(len(tokens)), w.add_eos_token_id(len(tokens) + 1)))


def characters(name):
    t = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(Regex(r"[^\n]+|[\n]+"), "isolated")
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    first = ["<pad>", "<eos>", "<bos>", "<unk>"] + [f"<0x{b:02X}>" for b in range(256)]
    t.train_from_iterator(TEXTS[:40] * 3, trainers.BpeTrainer(vocab_size=900, show_progress=False, special_tokens=first, limit_alphabet=250,
                                                              max_token_length=16))
    model = json.loads(t.to_str())
    model["added_tokens"] = []
    t = Tokenizer.from_str(json.dumps(model))
    tokens = ordered(t)
    cases(name, lambda s: t.encode(s).ids, lambda ids: t.decode(ids, skip_special_tokens=False))
    types = [CONTROL] * 3 + [UNKNOWN] + [BYTE] * 256
    write(name, "gemma4", tokens, types + [NORMAL] * (len(tokens) - len(types)), merges=merges_of(t),
          more=lambda w: (w.add_bos_token_id(2), w.add_eos_token_id(1), w.add_unk_token_id(3), w.add_pad_token_id(0)))


def wordpiece(name):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(TEXTS * 3, trainers.WordPieceTrainer(vocab_size=600, show_progress=False, special_tokens=special, limit_alphabet=300))
    model = json.loads(t.to_str())
    model["added_tokens"] = []
    t = Tokenizer.from_str(json.dumps(model))
    tokens = ordered(t)
    cases(name, lambda s: t.encode(s, add_special_tokens=False).ids, None)
    spelled = [x if i < 5 else x[2:] if x.startswith("##") else "▁" + x for i, x in enumerate(tokens)]
    write(name, "bert", spelled, [CONTROL, UNKNOWN, CONTROL, CONTROL, CONTROL] + [NORMAL] * (len(tokens) - 5),
          more=lambda w: (w.add_bos_token_id(2), w.add_sep_token_id(3), w.add_unk_token_id(1), w.add_pad_token_id(0), w.add_mask_token_id(4)))


def odd_ones():
    """Vocabularies with something missing or wrong, and the names of gpt-oss and Gemma 4."""
    letters, merges = ["a", "r", "m", "w", "ar", "war"], ["a r", "w ar"]
    normal = [NORMAL] * len(letters)
    write("no-pre", "gpt2", letters, normal, merges=merges)
    write("odd-pre", "gpt2", letters, normal, merges=merges, pre="of-tomorrow")
    write("odd-ids", "gpt2", letters, normal, merges=merges, pre="gpt-2", more=lambda w: w.add_bos_token_id(70000))
    write("odd-types", "gpt2", letters, normal[1:], merges=merges, pre="gpt-2")
    write("odd-kind", "of-tomorrow", letters, normal)
    oss = ["<|return|>", "<|call|>", "<|end|>", "<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"]
    write("gpt-oss-names", "gpt2", letters + oss, normal + [CONTROL] * len(oss), merges=merges, pre="gpt-4o",
          more=lambda w: w.add_eos_token_id(len(letters)))
    gemma = ["<pad>", "<eos>", "<bos>", "<unk>", "</s>", "<turn|>"]
    write("gemma4-names", "gemma4", gemma + letters, [CONTROL] * 3 + [UNKNOWN, USER, CONTROL] + normal, merges=merges,
          more=lambda w: (w.add_bos_token_id(2), w.add_eos_token_id(1)))
    w = gguf.GGUFWriter(HERE / "none.gguf", "llama")
    w.add_tokenizer_model("no_vocab")
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def main():
    odd_ones()
    sentencepiece_vocabulary("spm", "llama", spm, model_type="bpe", vocab_size=900, byte_fallback=True,
                             normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True)
    t5 = dict(model_type="unigram", vocab_size=500, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    sentencepiece_vocabulary("unigram", "t5", unigram, **t5)
    sentencepiece_vocabulary("unigram-bytes", "t5", unigram, byte_fallback=True, remove_extra_whitespaces=False,
                             normalization_rule_name="identity", **{**t5, "vocab_size": 700})
    byte_level("bpe-qwen2", "qwen2", QWEN2, False)
    byte_level("bpe-llama3", "llama-bpe", LLAMA3, True)
    characters("gemma4")
    wordpiece("wordpiece")


main()
