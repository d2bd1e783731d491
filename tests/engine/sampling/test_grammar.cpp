#include <sys/resource.h>

#include <chrono>
#include <set>

#include <QByteArray>
#include <QTest>

#include "cases.h"
#include "engine/base/error.h"
#include "engine/sampling/grammar_state.h"
#include "vocabulary_file.h"

using namespace hearth::sampling;
using cases::Json;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Peak memory of this process in MiB.
long peakMiB() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

std::string str(const Json& value) { return value.get<std::string>(); }

}  // namespace

class TestGrammar : public QObject {
    Q_OBJECT

    std::vector<cases::Source> sources_ = cases::both("grammar/cases.json");
    std::map<std::string, std::shared_ptr<const TokenTrie>> tries_;

    void addRows(const char* group) {
        QTest::addColumn<QByteArray>("test");
        for (const auto& source : sources_)
            for (const Json& test : source.content[group])
                QTest::addRow("%s: %s", source.name.c_str(), str(test["name"]).c_str())
                    << QByteArray::fromStdString(test.dump());
    }
    std::shared_ptr<const TokenTrie> trie(const std::string& vocabulary);

private slots:
    void counts();
    void texts_data() { addRows("gbnf"); }
    void texts();
    void refused_data() { addRows("gbnf_refused"); }
    void refused();
    void masks_data();
    void masks();
    void smallVocabulary_data();
    void smallVocabulary();
    void ambiguity();
    void longTexts();
    void tokenLiterals();
    void endTokens();
};

void TestGrammar::counts() {
    QVERIFY(!sources_.empty() && sources_[0].name == "own");
    if (sources_.size() < 2) QSKIP("the fixture set is not beside this checkout (HEARTH_FIXTURES)");
    QCOMPARE(sources_[1].content["gbnf"].size(), size_t{59});
    QCOMPARE(sources_[1].content["gbnf_refused"].size(), size_t{55});
    QCOMPARE(cases::read(cases::fixture("grammar/masks.json"))["cases"].size(), size_t{58});
}

void TestGrammar::texts() {
    QFETCH(QByteArray, test);
    const Json c = Json::parse(test.toStdString());
    const auto grammar = Grammar::parse(str(c["grammar"]));
    // All at once, and byte by byte: a character may be cut anywhere.
    for (const bool by_bytes : {false, true}) {
        const auto run = [&](const std::string& text) -> int {   // 2 matches, 1 can still match, 0 cannot
            GrammarState state(grammar);
            if (by_bytes) {
                for (const char byte : text)
                    if (!state.acceptText(std::string_view(&byte, 1))) return 0;
            } else if (!state.acceptText(text)) {
                return 0;
            }
            return state.mayEnd() ? 2 : 1;
        };
        for (const Json& text : c["accept"])
            QVERIFY2(run(str(text)) == 2, qPrintable("accept " + QString::fromStdString(text.dump())));
        for (const Json& text : c["prefix"])
            QVERIFY2(run(str(text)) == 1, qPrintable("prefix " + QString::fromStdString(text.dump())));
        for (const Json& text : c["reject"])
            QVERIFY2(run(str(text)) == 0, qPrintable("reject " + QString::fromStdString(text.dump())));
    }
}

void TestGrammar::refused() {
    QFETCH(QByteArray, test);
    const Json c = Json::parse(test.toStdString());
    const auto start = std::chrono::steady_clock::now();
    const long before = peakMiB();
    bool was_refused = false;
    try {
        GrammarState state(Grammar::parse(str(c["grammar"])));
        // A grammar that is taken must also be quick to follow.
        for (int i = 0; i < 200; ++i)
            for (const char* text : {"a", "b", "k", "(", "0"})
                if (state.acceptText(text)) break;
    } catch (const hearth::Error& error) {
        was_refused = true;
        QVERIFY(!error.whatFailed().empty() && !error.why().empty());
    }
    if (c.contains("invalid")) QVERIFY(was_refused);
    // Two seconds are the promise; a busy machine and sanitizers get twenty times that, and what is slow is printed.
    const double seconds = secondsSince(start);
    if (seconds > 1) qInfo("%.1f s", seconds);
    QVERIFY2(seconds < 20 * 2, qPrintable(QString::number(seconds)));
#ifndef __SANITIZE_ADDRESS__
    QVERIFY2(peakMiB() - before < 256, qPrintable(QString::number(peakMiB() - before)));
#else
    Q_UNUSED(before)
#endif
}

std::shared_ptr<const TokenTrie> TestGrammar::trie(const std::string& vocabulary) {
    auto& trie = tries_[vocabulary];
    if (!trie) {
        const std::string base = cases::fixture("tokenizers/" + vocabulary);
        const VocabularyFile file(base + ".gguf", cases::read(base + ".info.json")["eog"].get<std::set<Token>>());
        trie = std::make_shared<TokenTrie>(file.view());
    }
    return trie;
}

void TestGrammar::masks_data() {
    QTest::addColumn<QByteArray>("test");
    QTest::addColumn<QByteArray>("ignore");
    const Json file = cases::read(cases::fixture("grammar/masks.json"));
    if (file.is_null()) QSKIP("the fixture set is not beside this checkout (HEARTH_FIXTURES)");
    int i = 0;
    for (const Json& test : file["cases"])
        QTest::addRow("%d %s", i++, str(test["vocabulary"]).c_str())
            << QByteArray::fromStdString(test.dump())
            << QByteArray::fromStdString(file["vocabularies"][str(test["vocabulary"])]["ignore"].dump());
}

void TestGrammar::masks() {
    QFETCH(QByteArray, test);
    QFETCH(QByteArray, ignore);
    const Json c = Json::parse(test.toStdString());
    const auto ignored = Json::parse(ignore.toStdString()).get<std::set<Token>>();
    const QByteArray expected = QByteArray::fromBase64(QByteArray::fromStdString(str(c["allowed"])));
    const auto tree = trie(str(c["vocabulary"]));
    GrammarState state(Grammar::parse(str(c["grammar"])), tree);
    for (const Json& token : c["tokens"]) {
        QVERIFY(state.allowed(token.get<Token>()));
        state.accept(token.get<Token>());
    }
    QCOMPARE(state.mayEnd(), c["may_end"].get<bool>());
    const auto mask = state.mask();
    std::vector<uint64_t> copy(mask.begin(), mask.end());
    QStringList wrong;
    for (size_t i = 0; i < tree->vocabularySize(); ++i) {
        const auto token = static_cast<Token>(i);
        if (ignored.contains(token)) continue;
        const bool want = expected[static_cast<qsizetype>(i / 8)] >> (i % 8) & 1;
        const bool got = copy[i / 64] >> (i % 64) & 1;
        if (want != got) wrong += QString("%1%2").arg(want ? "+" : "-").arg(token);
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1 differ: %2").arg(wrong.size()).arg(wrong.mid(0, 20).join(' '))));
    // One token at a time must say the same; every 97th, and all that are allowed where these are few.
    for (size_t i = 0; i < tree->vocabularySize(); i += 97)
        QCOMPARE(state.allowed(static_cast<Token>(i)), (copy[i / 64] >> (i % 64) & 1) != 0);
}

void TestGrammar::smallVocabulary_data() {
    QTest::addColumn<QByteArray>("test");
    const Json file = cases::read(cases::own("grammar/masks.json"));
    QVERIFY(file["cases"].size() >= 100);
    int i = 0;
    for (const Json& test : file["cases"])
        QTest::addRow("%d %s", i++, str(test["name"]).c_str()) << QByteArray::fromStdString(test.dump());
}

/// Pieces cut inside characters, after texts cut anywhere.
void TestGrammar::smallVocabulary() {
    QFETCH(QByteArray, test);
    const Json c = Json::parse(test.toStdString());
    auto& tree = tries_["own"];
    if (!tree) {
        std::vector<std::string> pieces;
        const Json file = cases::read(cases::own("grammar/masks.json"));
        for (const Json& hex : file["pieces_hex"])
            pieces.push_back(QByteArray::fromHex(QByteArray::fromStdString(str(hex))).toStdString());
        pieces.push_back("</s>");
        const auto last = static_cast<Token>(pieces.size() - 1);
        tree = std::make_shared<TokenTrie>(
            VocabularyView{pieces.size(), [&](Token t) { return pieces[static_cast<size_t>(t)]; },
                           [=](Token t) { return t == last; }, [=](Token t) { return t == last; }});
    }
    GrammarState state(Grammar::parse(str(c["grammar"])), tree);
    QVERIFY(state.acceptText(QByteArray::fromHex(QByteArray::fromStdString(str(c["start_hex"]))).toStdString()));
    QCOMPARE(state.mayEnd(), c["may_end"].get<bool>());
    auto expected = c["allowed"].get<std::set<Token>>();
    const auto end = static_cast<Token>(tree->vocabularySize() - 1);
    if (c["may_end"] == true) expected.insert(end);
    if (expected.empty()) return;  // the grammar asks for a character that these pieces cannot spell
    const auto mask = state.mask();
    const std::vector<uint64_t> bits(mask.begin(), mask.end());
    for (Token token = 0; token <= end; ++token) {
        const auto i = static_cast<size_t>(token);
        QVERIFY2((bits[i / 64] >> (i % 64) & 1) == expected.contains(token), qPrintable(QString::number(token)));
        QCOMPARE(state.allowed(token), expected.contains(token));
    }
}

/// 2^n ways to read the same text, and a frame that differs for each.
void TestGrammar::ambiguity() {
    GrammarState state(Grammar::parse("root ::= \"a\" root \"x\" | \"a\" root \"y\" | \"c\""));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 2000; ++i) QVERIFY(state.acceptText("a"));
    QVERIFY(state.acceptText("c"));
    for (int i = 0; i < 2000; ++i) {
        QVERIFY(!state.mayEnd());
        QVERIFY(state.acceptText(i % 3 ? "x" : "y"));
    }
    QVERIFY(state.mayEnd());
    QVERIFY(!state.acceptText("x"));
    QVERIFY(secondsSince(start) < 20);
}

/// Long enough that old states are dropped on the way, in the middle of open brackets.
void TestGrammar::longTexts() {
    GrammarState state(Grammar::parse("root ::= \"(\" root \")\" | [a-z]{0,90000} | \"[\" (root \",\")* \"]\""));
    const int depth = 30000;
    for (int i = 0; i < depth; ++i) QVERIFY(state.acceptText("("));
    for (int i = 0; i < 90000; ++i) QVERIFY(state.acceptText("z"));
    QVERIFY(!state.acceptText("z"));
    for (int i = 0; i < depth; ++i) {
        QVERIFY(!state.mayEnd());
        QVERIFY(state.acceptText(")"));
    }
    QVERIFY(state.mayEnd());
    QVERIFY(!state.acceptText(")"));
}

void TestGrammar::tokenLiterals() {
    const std::vector<std::string> pieces{"a", "b", "ab", "<think>", "</think>", "<end>", "\xC3", "\xA9", ""};
    const VocabularyView view{pieces.size(), [&](Token t) { return pieces[static_cast<size_t>(t)]; },
                              [](Token t) { return t == 5; }, [](Token t) { return t == 3 || t == 4; }};
    const auto tree = std::make_shared<TokenTrie>(view);
    const auto allowed = [&](GrammarState& state) {
        QString result;
        const auto mask = state.mask();
        const uint64_t bits = mask[0];
        for (int i = 0; i < 9; ++i) {
            if (bits >> i & 1) result += QString::number(i);
            if (state.allowed(i) != ((bits >> i & 1) != 0)) result += '!';
        }
        return result;
    };
    GrammarState state(Grammar::parse("root ::= <think> !</think>* <[4]> \"a\"+ \"b\"?", &view), tree);
    QCOMPARE(allowed(state), "3");
    state.accept(3);
    QCOMPARE(allowed(state), "0124678");  // any text token, or the closing one
    state.accept(2);
    state.accept(6);
    state.accept(4);
    QCOMPARE(allowed(state), "02");
    QVERIFY_THROWS_EXCEPTION(hearth::Error, state.accept(1));
    state.accept(0);
    QCOMPARE(allowed(state), "0125");
    state.accept(5);
    QVERIFY(state.finished());
    QVERIFY(!state.allowed(0));
    QVERIFY(!state.mayEnd());
    state.reset();
    QCOMPARE(allowed(state), "3");

    // As text the same characters never stand for the token.
    GrammarState text(Grammar::parse("root ::= [^b]+ [\\u00e9]"), tree);
    QCOMPARE(allowed(text), "06");
    text.accept(0);
    QCOMPARE(allowed(text), "06");
    text.accept(6);
    QCOMPARE(allowed(text), "7");
    text.accept(7);
    QVERIFY(text.mayEnd());

    QVERIFY_THROWS_EXCEPTION(hearth::Error, Grammar::parse("root ::= <nosuch>", &view));
    QVERIFY_THROWS_EXCEPTION(hearth::Error, Grammar::parse("root ::= <[9]>", &view));
    QVERIFY_THROWS_EXCEPTION(hearth::Error, Grammar::parse("root ::= <think>"));
    // Nothing in this vocabulary can begin the text: said before the first token.
    QVERIFY_THROWS_EXCEPTION(hearth::Error, GrammarState(Grammar::parse("root ::= \"q\""), tree));
}

void TestGrammar::endTokens() {
    const std::vector<std::string> pieces{"x", "</s>", "<eot>"};
    const VocabularyView view{pieces.size(), [&](Token t) { return pieces[static_cast<size_t>(t)]; },
                              [](Token t) { return t > 0; }, [](Token t) { return t > 0; }};
    const auto tree = std::make_shared<TokenTrie>(view);
    GrammarState state(Grammar::parse("root ::= [a-z<>/]{2,3}"), tree);
    for (const uint64_t expected : {1u, 1u, 7u, 6u}) {
        QCOMPARE(state.mask()[0], expected);
        if (expected & 1) state.accept(0);
    }
    QVERIFY(!state.allowed(-1));
    QVERIFY(!state.allowed(3));
    QVERIFY_THROWS_EXCEPTION(hearth::Error, state.accept(1000));
}

QTEST_APPLESS_MAIN(TestGrammar)
#include "test_grammar.moc"
