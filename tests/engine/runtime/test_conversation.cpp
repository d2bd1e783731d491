#include <QtTest>

#include "engine/base/error.h"
#include "engine/runtime/conversation.h"
#include "tests/support/fixtures.h"

using namespace hearth;
using runtime::Conversation;
using runtime::EndReason;
using runtime::Reply;
using runtime::ReplyOptions;

namespace {

std::shared_ptr<runtime::Model> stories(uint32_t context = 512) {
    return runtime::Model::load(test::dataFolder() / "models" / "stories260K.gguf", {.ctx = context, .threads = 2});
}

std::shared_ptr<runtime::Model> starter() {
    static const auto model = runtime::Model::load(
        std::filesystem::path(HEARTH_SOURCE_DIR) / "resources" / "starter" / "SmolLM2-135M-Instruct.Q4_1.gguf",
        {.ctx = 2048, .threads = 2});
    return model;
}

ReplyOptions greedy(int64_t tokens) {
    ReplyOptions options;
    options.generation.sampling.temperature = 0;
    options.generation.max_tokens = tokens;
    return options;
}

QString joined(const std::vector<std::string>& sentences) {
    QString all;
    for (const std::string& s : sentences) all += QString::fromStdString(s) + "\n";
    return all;
}

}  // namespace

class TestConversation : public QObject {
    Q_OBJECT

private slots:
    void aFileWithoutATemplateGetsOneAndTheUserIsTold() {
        Conversation chat(stories());
        QVERIFY(joined(chat.notes()).contains("no chat template"));
        chat.messages().push_back({"user", "Tell me a story."});
        std::string streamed;
        const Reply reply = chat.reply(greedy(24), [&](const text::Piece& piece) { streamed += piece.text; });
        QVERIFY(!reply.message.content.empty());
        QCOMPARE(streamed, reply.message.content);
        QCOMPARE(chat.messages().size(), size_t{2});
        QCOMPARE(chat.messages().back().role, std::string("assistant"));
    }

    /// The answers that llama.cpp gives with the same file: it is a very small model, so the questions are chosen.
    void theStarterModelAnswers() {
        Conversation chat(starter());
        chat.messages().push_back({"user", "Who wrote Romeo and Juliet?"});
        const Reply who = chat.reply(greedy(20), {});
        QVERIFY2(who.message.content.starts_with("The story of Romeo and Juliet by William Shakespeare"),
                 who.message.content.c_str());
        QVERIFY(who.reason == EndReason::max_tokens);
        chat.messages().assign({{"user", "What is 2+2?"}});
        const Reply sum = chat.reply(greedy(40), {});
        QCOMPARE(sum.message.content, std::string("The answer to this classic math problem is 4."));
        QVERIFY(sum.reason == EndReason::end_of_generation);
    }

    void aSecondQuestionComputesOnlyItself() {
        Conversation chat(starter());
        chat.messages().push_back({"user", "Name a colour."});
        const Reply first = chat.reply(greedy(8), {});
        chat.messages().push_back({"user", "Another one."});
        const Reply second = chat.reply(greedy(8), {});
        QVERIFY(first.statistics.reused_tokens == 0);
        QVERIFY2(second.statistics.reused_tokens >= first.statistics.prompt_tokens,
                 qPrintable(QString::number(second.statistics.reused_tokens)));
        QVERIFY(second.statistics.prompt_tokens > second.statistics.reused_tokens);
    }

    void anAnswerAgainIsTheSame() {
        Conversation chat(starter());
        chat.messages().push_back({"user", "Say something about rivers."});
        const Reply first = chat.reply(greedy(20), {});
        chat.messages().pop_back();
        const Reply again = chat.reply(greedy(20), {});
        QCOMPARE(again.message.content, first.message.content);
        QCOMPARE(again.statistics.reused_tokens, again.statistics.prompt_tokens - 1);
    }

    /// Control-token text in a message is text: the prompt must be longer than with the control token that it looks like.
    void typedControlTokensStayText() {
        Conversation chat(starter());
        const ReplyOptions options = greedy(1);
        chat.messages().push_back({"user", "a"});
        const size_t plain = chat.promptTokens(options);
        chat.messages().back().content = "a<|im_end|>";
        QVERIFY(chat.promptTokens(options) > plain + 2);
    }

    void aLongConversationSaysWhatNoLongerFits() {
        Conversation chat(stories(128));
        for (int i = 0; i < 6; ++i) {
            chat.messages().push_back(
                {"user", "Once there was a little dog who liked to run and play in the park all day."});
            chat.messages().push_back({"assistant", "The dog ran and ran until it was dark and then it went home."});
        }
        chat.messages().push_back({"user", "And then?"});
        try {
            chat.reply(greedy(8), {});
            QFAIL("it cannot fit");
        } catch (const Error& e) {
            const QString words = e.what();
            QVERIFY2(words.contains("messages 1 to") && words.contains("128"), e.what());
        }
        ReplyOptions shifting = greedy(8);
        shifting.generation.overflow = runtime::Overflow::shift;
        const Reply reply = chat.reply(shifting, {});
        QVERIFY2(joined(reply.notes).contains("no longer seen"), qPrintable(joined(reply.notes)));
        QCOMPARE(chat.messages().size(), size_t{14});
    }

    void aMessageLongerThanTheContextIsRefused() {
        Conversation chat(stories(64));
        chat.messages().push_back({"user", std::string(2000, 'x')});
        QVERIFY_THROWS_EXCEPTION(Error, chat.reply(greedy(8), {}));
    }

    void thereMustBeSomethingToAnswer() {
        Conversation chat(stories());
        QVERIFY_THROWS_EXCEPTION(Error, chat.reply(greedy(8), {}));
    }

    void aModelWithoutVocabularyCannotChat() {
        const auto model = runtime::Model::load(test::dataFolder() / "models" / "llama.gguf", {.threads = 1});
        QVERIFY_THROWS_EXCEPTION(Error, Conversation{model});
    }

    void stopKeepsWhatWasSaid() {
        Conversation chat(starter());
        chat.messages().push_back({"user", "Count from one to one hundred in words."});
        std::stop_source stop;
        size_t pieces = 0;
        const Reply reply = chat.reply(
            greedy(400),
            [&](const text::Piece&) {
                if (++pieces == 5) stop.request_stop();
            },
            stop.get_token());
        QVERIFY(reply.reason == EndReason::stopped);
        QVERIFY(!reply.message.content.empty());
        QVERIFY(reply.statistics.generated_tokens < 100);
    }
};

QTEST_GUILESS_MAIN(TestConversation)
#include "test_conversation.moc"
