#include <QCryptographicHash>
#include <set>

#include "engine/text/pre_tokenizer.h"
#include "tokenizer_fixtures.h"

using namespace hearth::text;
using namespace hearth::text::test;

namespace {

std::string sha256(const std::string& bytes, size_t digits) {
    const QByteArray hash = QCryptographicHash::hash(QByteArray::fromStdString(bytes), QCryptographicHash::Sha256);
    return hash.toHex().toStdString().substr(0, digits);
}

/// As tests/data/tokenizers/make_pieces.py writes it.
std::string digest(const std::vector<std::string_view>& pieces) {
    std::string all;
    for (std::string_view piece : pieces) all.append(std::to_string(piece.size())).append(":").append(piece);
    return sha256(all, 8);
}

std::set<std::string> textsOf(const std::filesystem::path& path) {
    std::set<std::string> texts;
    for (const Json& c : readJson(path)) {
        if (c.is_string()) texts.insert(c.get<std::string>());
        if (c.is_object() && c.contains("text")) texts.insert(c["text"].get<std::string>());
    }
    return texts;
}

}  // namespace

/// Split rules against Python's `regex` package.
class TestTokenizerPieces : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { expected_ = readJson(ownData() / "pieces.json"); }

    void ownTexts_data() { addRows(); }
    void ownTexts() { check(textsOf(ownData() / "texts.json"), 160); }

    void fixtureTexts_data() { addRows(); }
    void fixtureTexts() {
        SKIP_WITHOUT_FIXTURES();
        std::set<std::string> texts;
        for (const char* name :
             {"llama-spm", "phi-3", "gpt-2", "falcon", "deepseek-coder", "deepseek-llm", "starcoder"}) {
            texts.merge(textsOf(sharedFixtures() / (std::string(name) + ".json")));
        }
        check(texts, 1100);
    }

    void unknownRuleIsDefault() {
        QVERIFY(!PreTokenizer::isKnown("no such rule"));
        const std::string text = "Rooms: 12345, it's warm  ";
        QCOMPARE(digest(PreTokenizer("no such rule").split(text)), digest(PreTokenizer("default").split(text)));
    }

private:
    Json expected_;

    void addRows() {
        QTest::addColumn<int>("index");
        QTest::addColumn<QString>("rule");
        int index = 0;
        for (const Json& rule : expected_["rules"]) {
            const QString name = QString::fromStdString(rule);
            QTest::newRow(qPrintable(name)) << index++ << name;
        }
    }

    void check(const std::set<std::string>& texts, size_t at_least) {
        QFETCH(int, index);
        QFETCH(QString, rule);
        QVERIFY(PreTokenizer::isKnown(rule.toStdString()));
        const PreTokenizer pre(rule.toStdString());
        Failures failures;
        size_t checked = 0;
        for (const std::string& text : texts) {
            const auto row = expected_["texts"].find(sha256(text, 16));
            if (row == expected_["texts"].end()) {
                failures.add("no expected pieces for " + Json(text).dump());
                continue;
            }
            const std::vector<std::string_view> pieces = pre.split(text);
            ++checked;
            if (digest(pieces) != row->get<std::string>().substr(9 * static_cast<size_t>(index), 8)) {
                failures.add(Json(text).dump() + "\n    got " + Json(pieces).dump());
            }
        }
        QVERIFY2(failures.count() == 0, failures.message(texts.size()));
        QVERIFY(checked >= at_least);
    }
};

QTEST_GUILESS_MAIN(TestTokenizerPieces)
#include "test_tokenizer_pieces.moc"
