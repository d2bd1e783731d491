#include <QCryptographicHash>
#include <QElapsedTimer>

#include "engine/text/streaming_decoder.h"
#include "tokenizer_fixtures.h"

using namespace hearth::text;
using namespace hearth::text::test;

namespace {

constexpr const char* kNames[] = {"llama-spm",      "phi-3",        "gpt-2",    "falcon",
                                  "deepseek-coder", "deepseek-llm", "starcoder"};

std::string kindOf(const Vocabulary& v) {
    return v.kind() == Kind::Spm ? "spm" : v.kind() == Kind::Bpe ? "bpe" : "other";
}

}  // namespace

/// The vocabularies of real models against the larger set of fixtures (its TEXT.md §1).
class TestTokenizerFixtures : public QObject {
    Q_OBJECT

private slots:
    void ids_data() { addRows(); }
    void ids() {
        SKIP_WITHOUT_FIXTURES();
        QFETCH(QString, name);
        const auto tokenizer = tokenizerOf(name);
        const Json cases = readJson(sharedFixtures() / (name.toStdString() + ".json"));
        QVERIFY(cases.size() > 1000);
        Failures failures;
        for (const Json& c : cases) {
            const std::string text = textField(c, "text");
            const std::vector<Token> ids = tokenizer->encode(text, {c.at("add_bos"), c.at("parse_special")});
            if (c.at("ids").is_null()) continue;
            bool ok = ids == c.at("ids").get<std::vector<Token>>();
            if (c.contains("also_ok")) {
                for (const Json& other : c["also_ok"]) ok |= ids == other.get<std::vector<Token>>();
            }
            if (!ok)
                failures.add(c.at("group").get<std::string>() + " " + Json(c).dump().substr(0, 300) + "\n    got " +
                             joined(ids));
        }
        QVERIFY2(failures.count() == 0, failures.message(cases.size()));
    }

    void text_data() { addRows(); }
    void text() {
        SKIP_WITHOUT_FIXTURES();
        QFETCH(QString, name);
        const auto tokenizer = tokenizerOf(name);
        const Json cases = readJson(sharedFixtures() / (name.toStdString() + ".json"));
        Failures failures;
        size_t checked = 0;
        for (const Json& c : cases) {
            if (c.at("ids").is_null()) continue;
            std::vector<Token> ids = c["ids"];
            if (c.at("add_bos") && tokenizer->vocabulary().addBos()) ids.erase(ids.begin());
            const bool round = c.at("roundtrip");
            const std::string expected = round ? textField(c, "text") : textField(c, "detok");
            const std::string got = tokenizer->decode(ids, {.control_tokens = true, .clean_up = true});
            if (got != expected) failures.add(c.dump().substr(0, 300) + "\n    got " + toHex(got));
            if (!round) {
                const bool differs = c.contains("detok_plain") || c.contains("detok_plain_hex");
                const std::string plain = differs ? textField(c, "detok_plain") : expected;
                const std::string shown = tokenizer->decode(ids, {.clean_up = true});
                if (shown != plain) failures.add("plain " + c.dump().substr(0, 300) + "\n    got " + toHex(shown));
            }
            ++checked;
        }
        QVERIFY(checked > 1000);
        QVERIFY2(failures.count() == 0, failures.message(checked));
    }

    void pieces_data() { addRows(); }
    void pieces() {
        SKIP_WITHOUT_FIXTURES();
        QFETCH(QString, name);
        const auto tokenizer = tokenizerOf(name);
        const Vocabulary& v = tokenizer->vocabulary();
        const Json info = readJson(sharedFixtures() / (name.toStdString() + ".info.json"));
        QCOMPARE(kindOf(v), info.at("kind").get<std::string>());
        QCOMPARE(v.size(), info.at("n_tokens").get<size_t>());
        QCOMPARE(v.special().bos, info.at("bos").get<Token>());
        QCOMPARE(v.special().eos, info.at("eos").get<Token>());
        QCOMPARE(v.special().eot, info.at("eot").get<Token>());
        QCOMPARE(v.special().pad, info.at("pad").get<Token>());
        QCOMPARE(v.addBos(), info.at("add_bos").get<bool>());
        QCOMPARE(v.addEos(), info.at("add_eos").get<bool>());
        QCOMPARE(joined(v.eogTokens()), joined(info.at("eog").get<std::vector<Token>>()));
        Failures failures;
        for (const Json& piece : info.at("pieces")) {
            const Token t = piece.at("id");
            const std::vector<std::string> attributes = piece.at("attr");
            const auto has = [&](const char* a) {
                return std::find(attributes.begin(), attributes.end(), a) != attributes.end();
            };
            bool ok = toHex(v.pieceBytes(t)) == piece.at("hex").get<std::string>();
            ok &= v.isControl(t) == has("control") && v.swallowsRight(t) == has("rstrip");
            ok &= (v.type(t) == TokenType::Byte) == has("byte") && (v.type(t) == TokenType::Unknown) == has("unknown");
            ok &= (v.type(t) == TokenType::UserDefined) == has("user-defined") &&
                  (v.type(t) == TokenType::Normal) == has("normal");
            if (!ok) failures.add(piece.dump() + " got " + toHex(v.pieceBytes(t)));
        }
        QVERIFY2(failures.count() == 0, failures.message(info["pieces"].size()));
    }

    void longTexts() {
        SKIP_WITHOUT_FIXTURES();
        const Json cases = readJson(sharedFixtures() / "long.json");
        QVERIFY(!cases.empty());
        Failures failures;
        for (const Json& c : cases) {
            const std::string repeat = c.at("repeat");
            std::string text;
            for (int i = 0; i < c.at("times").get<int>(); ++i) text += repeat;
            const auto tokenizer = tokenizerOf(QString::fromStdString(c.at("vocabulary")));
            QElapsedTimer timer;
            timer.start();
            const std::vector<Token> ids = tokenizer->encode(text, {.add_special = false});
            const qint64 ms = timer.elapsed();
            const QByteArray sha =
                QCryptographicHash::hash(QByteArray::fromStdString(joined(ids)), QCryptographicHash::Sha256).toHex();
            const bool same =
                ids.size() == c.at("count").get<size_t>() && sha.toStdString() == c.at("sha256").get<std::string>();
            // A hang guard: 20 times the two seconds that such a text may take.
            if (!same || ms > 40'000) {
                failures.add(c.at("vocabulary").get<std::string>() + " '" + repeat +
                             "': " + std::to_string(ids.size()) + " ids, " + std::to_string(ms) + " ms");
            }
        }
        QVERIFY2(failures.count() == 0, failures.message(cases.size()));
    }

    void streaming() {
        SKIP_WITHOUT_FIXTURES();
        const Json cases = readJson(sharedFixtures() / "streaming.json");
        QVERIFY(!cases.empty());
        Failures failures;
        for (const Json& c : cases) {
            StreamingDecoder decoder(tokenizerOf(QString::fromStdString(c.at("vocabulary"))), {.control_tokens = true});
            Json chunks = Json::array();
            for (Token t : c.at("ids").get<std::vector<Token>>()) chunks.push_back(decoder.push(t));
            const std::string rest = toHex(decoder.finish());
            if (chunks != c.at("chunks") || rest != c.at("rest_hex").get<std::string>()) {
                failures.add(c.dump().substr(0, 300) + "\n    got " + chunks.dump().substr(0, 300) + " rest " + rest);
            }
        }
        QVERIFY2(failures.count() == 0, failures.message(cases.size()));
    }

private:
    std::map<QString, std::shared_ptr<const Tokenizer>> tokenizers_;

    static void addRows() {
        QTest::addColumn<QString>("name");
        for (const char* name : kNames) QTest::newRow(name) << QString(name);
    }

    std::shared_ptr<const Tokenizer> tokenizerOf(const QString& name) {
        auto& slot = tokenizers_[name];
        if (!slot) slot = loadTokenizer(sharedFixtures() / (name.toStdString() + ".gguf"));
        return slot;
    }
};

QTEST_GUILESS_MAIN(TestTokenizerFixtures)
#include "test_tokenizer_fixtures.moc"
