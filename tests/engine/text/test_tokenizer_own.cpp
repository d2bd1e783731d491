#include "engine/base/error.h"
#include "engine/text/streaming_decoder.h"
#include "engine/text/unicode.h"
#include "tokenizer_fixtures.h"

using namespace hearth::text;
using namespace hearth::text::test;

/// Small vocabularies trained on our own texts; expected ids by the libraries that trained them (tests/data/tokenizers).
class TestTokenizerOwn : public QObject {
    Q_OBJECT

private slots:
    void ids_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("kind");
        const auto row = [](const char* name, Kind kind) {
            QTest::newRow(name) << QString(name) << static_cast<int>(kind);
        };
        row("spm", Kind::Spm);
        row("unigram", Kind::Unigram);
        row("unigram-bytes", Kind::Unigram);
        row("bpe-qwen2", Kind::Bpe);
        row("bpe-llama3", Kind::Bpe);
        row("gemma4", Kind::Gemma4);
        row("wordpiece", Kind::WordPiece);
    }
    void ids() {
        QFETCH(QString, name);
        QFETCH(int, kind);
        const auto tokenizer = own(name.toStdString());
        QCOMPARE(static_cast<int>(tokenizer->vocabulary().kind()), kind);
        QVERIFY(tokenizer->vocabulary().warnings().empty());
        const Json cases = readJson(ownData() / (name.toStdString() + ".json"));
        QVERIFY(cases.size() > 160);
        Failures failures;
        for (const Json& c : cases) {
            const std::string text = c.at("text");
            const std::vector<Token> ids = tokenizer->encode(text, {.add_special = false});
            if (ids != c.at("ids").get<std::vector<Token>>())
                failures.add(c.dump().substr(0, 400) + "\n    got " + joined(ids));
            if (c.contains("decoded")) {
                const std::string decoded = tokenizer->decode(c["ids"].get<std::vector<Token>>());
                if (replaceIllFormed(decoded) != c["decoded"].get<std::string>())
                    failures.add(c.dump().substr(0, 400) + "\n    got text " + decoded);
            }
            StreamingDecoder stream(tokenizer);
            std::string shown;
            for (Token t : ids) {
                const std::string piece = stream.push(t);
                if (!isWellFormed(piece)) failures.add("half a character: " + c.dump().substr(0, 200));
                shown += piece;
            }
            shown += stream.finish();
            if (shown != replaceIllFormed(tokenizer->decode(ids)))
                failures.add("streamed text differs: " + c.dump().substr(0, 200));
        }
        QVERIFY2(failures.count() == 0, failures.message(cases.size()));
    }

    /// A large vocabulary's tables take a good part of a second, so every kind of them asks whether it shall go on.
    void buildingEndsWhenAsked_data() { ids_data(); }
    void buildingEndsWhenAsked() {
        QFETCH(QString, name);
        const auto vocabulary =
            std::make_shared<Vocabulary>(hearth::gguf::File::open(ownData() / (name.toStdString() + ".gguf")));
        std::stop_source stop;
        const Tokenizer whole(vocabulary, stop.get_token());
        QVERIFY(!whole.encode("a", {.add_special = false}).empty());
        stop.request_stop();
        QVERIFY_THROWS_EXCEPTION(hearth::Stopped, Tokenizer(vocabulary, stop.get_token()));
    }

private:
    static std::shared_ptr<const Tokenizer> own(const std::string& name) {
        return loadTokenizer(ownData() / (name + ".gguf"));
    }
};

QTEST_GUILESS_MAIN(TestTokenizerOwn)
#include "test_tokenizer_own.moc"
