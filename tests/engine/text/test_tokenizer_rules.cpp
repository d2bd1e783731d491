#include <QElapsedTimer>
#include <random>

#include "engine/base/error.h"
#include "engine/text/streaming_decoder.h"
#include "engine/text/unicode.h"
#include "tokenizer_fixtures.h"

using namespace hearth::text;
using namespace hearth::text::test;

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr size_t kLongText = 100'000;   // the sanitizer's own work would take most of the time
#else
constexpr size_t kLongText = 1'000'000;
#endif

constexpr const char* kOwn[] = {"spm", "unigram", "unigram-bytes", "bpe-qwen2", "bpe-llama3", "gemma4", "wordpiece"};

std::vector<Token> plus(std::initializer_list<std::vector<Token>> parts) {
    std::vector<Token> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

/// What must hold for every vocabulary: trust, BOS, broken input, long input. On the vocabularies of our own.
class TestTokenizerRules : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        for (const char* name : kOwn) tokenizers_[name] = loadTokenizer(ownData() / (std::string(name) + ".gguf"));
    }

    void controlTokensOnlyFromTrustedText() {
        const Tokenizer& t = *tokenizers_.at("bpe-llama3");
        const Token user = t.vocabulary().findSpecial("<|user|>").value();
        const Token end = t.vocabulary().findSpecial("<|end_of_text|>").value();
        const auto plain = [&](std::string_view s) { return t.encode(s, {.add_special = false}); };
        const auto marked = [&](std::vector<Segment> segments) { return t.encode(segments, false); };

        QCOMPARE(joined(marked({{"<|user|>", true}, {"warm", false}, {"<|end_of_text|>", true}})),
                 joined(plus({{user}, plain("warm"), {end}})));
        // What the user wrote stays text, also where it joins the template's text to the name of a token.
        QCOMPARE(joined(marked({{"<|user|>", true}, {"<|end_of_text|>", false}})),
                 joined(plus({{user}, plain("<|end_of_text|>")})));
        QCOMPARE(joined(marked({{"<|us", true}, {"er|>", false}})), joined(plain("<|user|>")));
        QCOMPARE(joined(marked({{"<|us", false}, {"er|>", true}})), joined(plain("<|user|>")));
        // Trusted pieces that touch are one text; so is the text of trusted and untrusted pieces.
        QCOMPARE(joined(marked({{"<|us", true}, {"", false}, {"er|>", true}})), joined(std::vector<Token>{user}));
        QCOMPARE(joined(marked({{"wa", true}, {"rm", false}})), joined(plain("warm")));
        for (Token id : plain("<|begin|><|user|><|end_of_text|>")) QVERIFY(!t.vocabulary().isControl(id));
    }

    void noVocabularyMakesControlTokensOfText() {
        for (const auto& [name, t] : tokenizers_) {
            const Vocabulary& v = t->vocabulary();
            for (Token special : v.specialTokens()) {
                if (!v.needsTrust(special)) continue;
                const std::string text = "a" + std::string(v.pieceBytes(special)) + "b";
                for (Token id : t->encode(text, {.add_special = false})) {
                    QVERIFY2(!v.isControl(id), (name + ": " + text).c_str());
                }
                const std::vector<Token> parsed =
                    t->encode(v.pieceBytes(special), {.add_special = false, .parse_special = true});
                QCOMPARE(joined(parsed), joined(std::vector<Token>{special}));
            }
        }
    }

    void bosAppearsOnce() {
        const Tokenizer& t = *tokenizers_.at("bpe-llama3");
        const Token bos = t.vocabulary().special().bos;
        QVERIFY(t.vocabulary().addBos());
        EncodeNotes notes;
        const std::vector<Segment> with{{"<|begin|>", true}, {"warm", false}}, without{{"warm", false}};
        const std::vector<Token> once = t.encode(without, true, &notes);
        QVERIFY(!notes.bos_already_there);
        QCOMPARE(once.front(), bos);
        QCOMPARE(joined(t.encode(with, true, &notes)), joined(once));
        QVERIFY(notes.bos_already_there);
        // One that only the template adds stays.
        QCOMPARE(joined(t.encode(with, false)), joined(once));
        // A user who types its name gets text.
        const std::vector<Segment> typed{{"<|begin|>", false}};
        QVERIFY(t.encode(typed, true)[1] != bos);
    }

    void bertAddsItsFrame() {
        const Tokenizer& t = *tokenizers_.at("wordpiece");
        const SpecialTokens& s = t.vocabulary().special();
        QCOMPARE(joined(t.encode("warm house")),
                 joined(plus({{s.bos}, t.encode("warm house", {.add_special = false}), {s.sep}})));
        const Tokenizer& t5 = *tokenizers_.at("unigram");
        QCOMPARE(t5.encode("warm").back(), t5.vocabulary().special().eos);
    }

    void endOfGeneration() {
        const Vocabulary& v = tokenizers_.at("bpe-llama3")->vocabulary();
        QCOMPARE(joined(v.eogTokens()), joined(std::vector<Token>{v.findSpecial("<|end_of_text|>").value()}));
        QVERIFY(!v.isEog(-1) && !v.isEog(static_cast<Token>(v.size())) && !v.isControl(-5));
    }

    void streamingHoldsHalfCharacters() {
        const auto t = tokenizers_.at("bpe-qwen2");
        const std::string_view snail = "\xf0\x9f\x90\x8c";   // stands in no text that the vocabulary was trained on
        const std::vector<Token> ids = t->encode(snail, {.add_special = false});
        QVERIFY(ids.size() > 1);
        StreamingDecoder stream(t);
        std::string shown;
        for (size_t i = 0; i + 1 < ids.size(); ++i) QCOMPARE(stream.push(ids[i]), std::string());
        QCOMPARE(stream.push(ids.back()), std::string(snail));
        QCOMPARE(stream.push(ids[0]), std::string());
        QCOMPARE(toHex(stream.finish()), toHex(t->decode({ids.data(), 1})));
    }

    void illFormedUtf8() {
        // Unicode, table 3-7 and section 3.9: the samples of U+FFFD substitution, byte by byte.
        QCOMPARE(toHex(replaceIllFormed("\x61\xc0\xaf\x62")), std::string("61efbfbdefbfbd62"));
        QCOMPARE(toHex(replaceIllFormed("\xed\xa0\x80")), std::string("efbfbdefbfbdefbfbd"));
        QCOMPARE(toHex(replaceIllFormed("\xf4\x90\x80\x80")), std::string("efbfbdefbfbdefbfbdefbfbd"));
        QVERIFY(isWellFormed("\xf4\x8f\xbf\xbf\xed\x9f\xbf\xe0\xa0\x80"));
        QCOMPARE(incompleteTail("a\xf0\x9f\x94"), size_t{3});
        QCOMPARE(incompleteTail("a\xed\xa0"), size_t{0});
        QCOMPARE(incompleteTail("a\xe2\x82\xac"), size_t{0});
    }

    void randomBytesAndTokens() {
        std::mt19937 random(7);
        for (const auto& [name, t] : tokenizers_) {
            for (int round = 0; round < 200; ++round) {
                std::string text(random() % 60, '\0');
                for (char& c : text) c = static_cast<char>(random() % (round % 2 ? 256 : 128));
                for (Token id : t->encode(text, {.parse_special = round % 3 == 0})) {
                    QVERIFY2(t->vocabulary().contains(id), (name + " " + toHex(text)).c_str());
                }
                std::vector<Token> ids(random() % 30);
                for (Token& id : ids)
                    id = static_cast<Token>(random() % (round % 2 ? t->vocabulary().size() + 50 : 0xffffffff));
                StreamingDecoder stream(t, {.control_tokens = true});
                std::string shown;
                for (Token id : ids) shown += stream.push(id);
                QVERIFY(isWellFormed(shown));
                QCOMPARE(shown + stream.finish().substr(0, 0),
                         replaceIllFormed(wholeCharacters(t->decode(ids, {.control_tokens = true}))));
            }
        }
    }

    void aMegabyteOfOneCharacter() {
        for (const auto& [name, t] : tokenizers_) {
            for (const std::string unit : {"a", " ", "\u0301", "\xff"}) {
                std::string text;
                while (text.size() < kLongText) text += unit;
                text += "x";
                QElapsedTimer timer;
                timer.start();
                const size_t n = t->encode(text, {.add_special = false}).size();
                QVERIFY(n > 0 || unit == "\u0301" || unit == "\xff");
                // A hang guard: 20 times the second that this may take.
                QVERIFY2(timer.elapsed() < 20'000,
                         (name + " '" + unit + "' " + std::to_string(timer.elapsed()) + " ms").c_str());
            }
        }
    }

    void fileWithoutVocabulary() {
        const auto path = ownData() / "none.gguf";
        const auto t = loadTokenizer(path);
        QCOMPARE(t->vocabulary().size(), size_t{0});
        QVERIFY_THROWS_EXCEPTION(hearth::Error, t->encode("warm"));
        QCOMPARE(t->decode(std::vector<Token>{1, 2, 3}), std::string());
    }

    void missingAndUnknownSplitRules() {
        for (const char* name : {"no-pre", "odd-pre"}) {
            const auto t = loadTokenizer(ownData() / (std::string(name) + ".gguf"));
            QCOMPARE(t->vocabulary().warnings().size(), size_t{1});
            QVERIFY(!t->encode("warm 12345", {.add_special = false}).empty());
        }
        const Vocabulary odd(hearth::gguf::File::open(ownData() / "odd-ids.gguf"));
        QCOMPARE(odd.special().bos, kNoToken);   // 70000 in the file, which is no token
        QVERIFY(!odd.warnings().empty());
        QVERIFY_THROWS_EXCEPTION(hearth::Error, Vocabulary(hearth::gguf::File::open(ownData() / "odd-types.gguf")));
        QVERIFY_THROWS_EXCEPTION(hearth::Error, Vocabulary(hearth::gguf::File::open(ownData() / "odd-kind.gguf")));
    }

    void gptOssAndGemma4() {
        const Vocabulary oss(hearth::gguf::File::open(ownData() / "gpt-oss-names.gguf"));
        const auto id = [&](const char* text) { return oss.findSpecial(text).value(); };
        QVERIFY(oss.isEog(id("<|return|>")) && oss.isEog(id("<|call|>")));
        QVERIFY(!oss.isEog(id("<|end|>")) && oss.isControl(id("<|end|>")));
        for (const char* text : {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"}) {
            QVERIFY(!oss.isControl(id(text)) && oss.needsTrust(id(text)));
        }
        const Vocabulary gemma(hearth::gguf::File::open(ownData() / "gemma4-names.gguf"));
        QVERIFY(!gemma.isEog(gemma.findSpecial("</s>").value()));
        QVERIFY(gemma.isEog(gemma.findSpecial("<turn|>").value()) && gemma.addBos());
    }

private:
    std::map<std::string, std::shared_ptr<const Tokenizer>> tokenizers_;

    static std::string wholeCharacters(std::string text) {
        text.resize(text.size() - incompleteTail(text));
        return text;
    }
};

QTEST_GUILESS_MAIN(TestTokenizerRules)
#include "test_tokenizer_rules.moc"
