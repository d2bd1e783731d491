#include <QtTest>

#include <numeric>
#include <thread>

#include "engine/base/error.h"
#include "engine/runtime/generation.h"
#include "tests/support/fixtures.h"

using namespace hearth;
using runtime::EndReason;
using runtime::Generation;
using runtime::GenerationOptions;
using runtime::Session;
using text::Token;

namespace {

std::shared_ptr<runtime::Model> loadOurs(const std::string& name, runtime::LoadOptions options = {}) {
    if (options.threads == 0) options.threads = 2;
    return runtime::Model::load(test::dataFolder() / "models" / (name + ".gguf"), options);
}

GenerationOptions greedy(int64_t max_tokens) {
    GenerationOptions options;
    options.sampling.temperature = 0;
    options.max_tokens = max_tokens;
    options.ignore_end = true;
    return options;
}

std::vector<Token> someTokens(size_t n, uint32_t vocabulary, uint32_t salt = 1) {
    std::vector<Token> tokens(n);
    for (size_t i = 0; i < n; ++i) tokens[i] = static_cast<Token>((i * 7919 + salt * 131) % vocabulary);
    return tokens;
}

std::vector<Token> generate(Session& session, const std::vector<Token>& prompt, const GenerationOptions& options,
                            runtime::GenerationStatistics* statistics = nullptr) {
    Generation generation(session, prompt, options, {});
    Generation* const all[] = {&generation};
    runtime::runAll(session.model(), all);
    if (statistics != nullptr) *statistics = generation.statistics();
    return {generation.tokens().begin(), generation.tokens().end()};
}

}  // namespace

class TestGeneration : public QObject {
    Q_OBJECT

private slots:
    void loadingEndsWhenAsked() {
        const auto path = test::dataFolder() / "models" / "stories260K.gguf";
        std::stop_source stop;
        auto model = runtime::Model::load(path, {.threads = 1}, stop.get_token());
        QVERIFY(model->tokenizer().vocabulary().size() > 0);
        stop.request_stop();   // what is built stays
        QVERIFY(model->tokenizer().vocabulary().size() > 0);
        QVERIFY_THROWS_EXCEPTION(Stopped, runtime::Model::load(path, {.threads = 1}, stop.get_token()));
    }

    void sharedPrefixIsNotComputedAgain_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"llama", "gemma3", "deepseek2", "qwen3moe"}) QTest::newRow(name) << name;
    }
    void sharedPrefixIsNotComputedAgain() {
        QFETCH(QString, name);
        const auto model = loadOurs(name.toStdString());
        const uint32_t v = model->description().vocabulary;
        std::vector<Token> first = someTokens(20, v), second = first;
        second.resize(14);
        const auto other = someTokens(10, v, 5);
        second.insert(second.end(), other.begin(), other.end());

        Session reused(model), fresh(model);
        generate(reused, first, greedy(6));
        runtime::GenerationStatistics statistics;
        const auto got = generate(reused, second, greedy(12), &statistics);
        QCOMPARE(statistics.prompt_tokens, uint32_t(second.size()));
        QVERIFY2(statistics.reused_tokens >= 14 && statistics.reused_tokens < second.size(),
                 qPrintable(QString::number(statistics.reused_tokens)));
        QCOMPARE(got, generate(fresh, second, greedy(12)));
    }

    void samePromptAgainComputesOneToken() {
        const auto model = loadOurs("llama");
        const auto prompt = someTokens(20, model->description().vocabulary);
        Session session(model);
        const auto once = generate(session, prompt, greedy(5));
        runtime::GenerationStatistics statistics;
        QCOMPARE(generate(session, prompt, greedy(5), &statistics), once);
        QCOMPARE(statistics.reused_tokens, uint32_t(prompt.size() - 1));
    }

    /// Recurrent state cannot be cut: an edited message goes back to the checkpoint at the end of the prompt before.
    void editsOnARecurrentModel() {
        const auto model = loadOurs("qwen35");
        const uint32_t v = model->description().vocabulary;
        const auto first = someTokens(15, v);
        Session session(model), fresh(model);
        auto second = first;
        for (const Token t : generate(session, first, greedy(6))) second.push_back(t);
        const auto more = someTokens(5, v, 3);
        second.insert(second.end(), more.begin(), more.end());
        generate(session, second, greedy(6));

        auto edited = second;
        edited.back() = (edited.back() + 1) % static_cast<Token>(v);
        runtime::GenerationStatistics statistics;
        const auto got = generate(session, edited, greedy(8), &statistics);
        QCOMPARE(statistics.reused_tokens, uint32_t(first.size()));
        QCOMPARE(got, generate(fresh, edited, greedy(8)));
    }

    void windowedModelGoesBackOnlyAsFarAsItsRingHolds() {
        const auto model = loadOurs("gemma3", {.ctx = 128, .batch = 8, .threads = 2});
        const uint32_t v = model->description().vocabulary;
        QVERIFY(model->description().window + 8 < 100);
        const auto text = someTokens(100, v);
        Session session(model), fresh(model);
        generate(session, text, greedy(1));
        auto edited = text;
        edited[10] = (edited[10] + 1) % static_cast<Token>(v);  // far outside of what the ring still holds
        runtime::GenerationStatistics statistics;
        const auto got = generate(session, edited, greedy(8), &statistics);
        QCOMPARE(statistics.reused_tokens, 0u);
        QCOMPARE(got, generate(fresh, edited, greedy(8)));
    }

    void togetherAsAlone_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"llama", "llama_quants", "gemma2", "gpt_oss", "qwen35moe", "plm", "smallthinker"})
            QTest::newRow(name) << name;
    }
    void togetherAsAlone() {
        QFETCH(QString, name);
        const auto model = loadOurs(name.toStdString(), {.ctx = 128, .batch = 16, .threads = 2});
        std::vector<std::unique_ptr<Session>> sessions;
        std::vector<std::unique_ptr<Generation>> generations;
        std::vector<Generation*> all;
        std::vector<std::vector<Token>> prompts;
        for (uint32_t i = 0; i < 5; ++i) {
            prompts.push_back(someTokens(3 + 9 * i, model->description().vocabulary, i));
            sessions.push_back(std::make_unique<Session>(model));
            generations.push_back(std::make_unique<Generation>(*sessions[i], prompts[i], greedy(10 + i), nullptr));
            all.push_back(generations.back().get());
        }
        runtime::runAll(*model, all);
        for (uint32_t i = 0; i < 5; ++i) {
            Session alone(model);
            const std::vector<Token> together(generations[i]->tokens().begin(), generations[i]->tokens().end());
            QCOMPARE(together, generate(alone, prompts[i], greedy(10 + i)));
        }
    }

    void contextOverflowStopsInWords() {
        const auto model = loadOurs("llama", {.ctx = 32, .threads = 2});
        Session session(model);
        Generation generation(session, someTokens(30, model->description().vocabulary), greedy(100), {});
        Generation* const all[] = {&generation};
        runtime::runAll(*model, all);
        QVERIFY(generation.reason() == EndReason::context_full);
        QCOMPARE(generation.tokens().size(), size_t{3});  // 30 in the prompt, two computed, one chosen at the end
        try {
            Generation too_long(session, someTokens(32, model->description().vocabulary), greedy(1), {});
            QFAIL("a prompt as long as the context was taken");
        } catch (const Error& e) {
            QVERIFY(QString(e.what()).contains("32 tokens"));
        }
    }

    void contextShiftComputesTheKeptTailAnew() {
        const auto model = loadOurs("llama", {.ctx = 32, .threads = 2});
        GenerationOptions options = greedy(40);
        options.overflow = runtime::Overflow::shift;
        Session session(model);
        const auto prompt = someTokens(30, model->description().vocabulary);
        const auto got = generate(session, prompt, options);
        QCOMPARE(got.size(), size_t{40});
        // The first shift keeps 16 of the 33 tokens; from there on it must go as in a session that began with those.
        std::vector<Token> text = prompt;
        text.insert(text.end(), got.begin(), got.begin() + 3);
        const std::vector<Token> kept(text.end() - 16, text.end());
        Session fresh(model);
        QCOMPARE(generate(fresh, kept, greedy(15)), std::vector<Token>(got.begin() + 3, got.begin() + 18));
    }

    void stopEndsAtOnceAndLeavesTheSessionUsable() {
        const auto model = loadOurs("llama", {.ctx = 4096, .threads = 2});
        const auto prompt = someTokens(20, model->description().vocabulary);
        Session session(model), fresh(model);
        std::stop_source stop;
        GenerationOptions options = greedy(-1);
        Generation endless(session, prompt, options, {});
        Generation* const all[] = {&endless};
        std::jthread asker([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            stop.request_stop();
        });
        runtime::runAll(*model, all, stop.get_token());
        QVERIFY(endless.reason() == EndReason::stopped);
        QVERIFY(session.tokens().size() == session.sequence().length());
        QCOMPARE(generate(session, prompt, greedy(7)), generate(fresh, prompt, greedy(7)));
    }

    void stopBeforeThePromptIsDone() {
        const auto model = loadOurs("qwen35", {.ctx = 512, .batch = 4, .threads = 2});
        const auto prompt = someTokens(300, model->description().vocabulary);
        Session session(model), fresh(model);
        std::stop_source stop;
        stop.request_stop();
        Generation stopped(session, prompt, greedy(5), {});
        Generation* const all[] = {&stopped};
        runtime::runAll(*model, all, stop.get_token());
        QVERIFY(stopped.reason() == EndReason::stopped);
        QVERIFY(stopped.tokens().empty());
        QCOMPARE(generate(session, prompt, greedy(5)), generate(fresh, prompt, greedy(5)));
    }

    void aFileCutWhileMappedFailsInWords() {
        QTemporaryDir folder;
        const QString copy = folder.filePath("cut.gguf");
        QVERIFY(QFile::copy(QString::fromStdString((test::dataFolder() / "models" / "llama.gguf").string()), copy));
        QVERIFY(QFile::setPermissions(copy, QFile::ReadOwner | QFile::WriteOwner));
        const auto model = runtime::Model::load(copy.toStdString(), {.threads = 2});
        Session session(model);
        const auto prompt = someTokens(8, model->description().vocabulary);
        generate(session, prompt, greedy(3));
        QVERIFY(QFile::resize(copy, 8192));
        try {
            generate(session, someTokens(8, model->description().vocabulary, 9), greedy(50));
            QFAIL("nobody noticed");
        } catch (const Error& e) {
            QVERIFY2(QString(e.what()).contains("cut.gguf"), e.what());
        }
    }

    void seededSamplingRepeats() {
        const auto model = loadOurs("llama");
        const auto prompt = someTokens(12, model->description().vocabulary);
        GenerationOptions options = greedy(30);
        options.sampling.temperature = 1.5;
        options.sampling.seed = 42;
        Session a(model), b(model);
        const auto once = generate(a, prompt, options);
        QCOMPARE(generate(b, prompt, options), once);
        options.sampling.seed = 43;
        Session c(model);
        QVERIFY(generate(c, prompt, options) != once);
    }

    void tokensOutsideOfTheVocabularyAreRefused() {
        const auto model = loadOurs("llama");
        Session session(model);
        const auto bad = static_cast<Token>(model->description().vocabulary);
        QVERIFY_THROWS_EXCEPTION(Error, generate(session, {1, bad}, greedy(1)));
        QCOMPARE(session.tokens().size(), size_t{0});
    }
};

QTEST_GUILESS_MAIN(TestGeneration)
#include "test_generation.moc"
