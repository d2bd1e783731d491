#include <QJsonDocument>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/base/error.h"
#include "tests/ui/own_settings.h"
#include "tests/ui/stage.h"
#include "ui/exchange/chat_files.h"

using namespace hearth;
using namespace hearth::ui;

class TestExchange : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void ownFilesComeBackWhole();
    void chatGptIsRead();
    void llamaUiIsRead();
    void oldLlamaUiIsRead();
    void whatIsNoChatIsRefused_data();
    void whatIsNoChatIsRefused();
    void circlesAndOrphansAreKept();
    void damagedFilesDoNoHarm();
    void peopleCanReadIt();
    void throughTheWindow();

private:
    hearth::test::OwnSettings settings_;
};

namespace {

/// What does not depend on ids: each message with the text of the one it follows.
QStringList shape(const WholeChat& whole) {
    QHash<qint64, QString> texts;
    for (const MessageRecord& m : whole.messages) texts.insert(m.id, m.text);
    QStringList all;
    for (const MessageRecord& m : whole.messages)
        all << QStringLiteral("%1 <- %2").arg(texts.value(m.parent, QStringLiteral("(begin)")), m.text);
    all.sort();
    return all;
}

QString textOf(const WholeChat& whole, qint64 id) {
    for (const MessageRecord& m : whole.messages)
        if (m.id == id) return m.text;
    return {};
}

WholeChat sample() {
    WholeChat whole;
    whole.chat = {.id = 1,
                  .title = QStringLiteral("Sample"),
                  .system_prompt = QStringLiteral("Be brief."),
                  .options = QStringLiteral("{\"top_k\":3}"),
                  .leaf = 13,
                  .created = 1000,
                  .updated = 2000};
    whole.messages = {
        {.id = 10, .chat = 1, .parent = 0, .role = Role::User, .text = QStringLiteral("q <b> & \"x\""), .created = 5},
        {.id = 11,
         .chat = 1,
         .parent = 10,
         .role = Role::Assistant,
         .state = MessageState::Stopped,
         .author = QStringLiteral("M"),
         .text = QStringLiteral("a"),
         .thinking = QStringLiteral("t"),
         .notes = {QStringLiteral("n1"), QStringLiteral("n2")},
         .created = 6,
         .tokens = 3,
         .seconds = 0.5,
         .thinking_seconds = 0.25,
         .speed = 6.5,
         .rating = -1},
        {.id = 12, .chat = 1, .parent = 10, .role = Role::Assistant, .text = QStringLiteral("```cpp\nint x;\n```")},
        {.id = 13, .chat = 1, .parent = 12, .role = Role::User, .text = QStringLiteral("more")}};
    return whole;
}

}  // namespace

void TestExchange::initTestCase() {
    QVERIFY(settings_.isValid());
}

void TestExchange::ownFilesComeBackWhole() {
    const WholeChat before = sample();
    const QList<WholeChat> chats = readChats(toJson({before, before}));
    QCOMPARE(chats.size(), 2);
    QVERIFY(chats[0].chat.id != chats[1].chat.id);
    for (WholeChat after : chats) {
        QCOMPARE(shape(after), shape(before));
        QCOMPARE(textOf(after, after.chat.leaf), QStringLiteral("more"));
        // Ids are new; all else is the same.
        QHash<QString, MessageRecord> old;
        for (const MessageRecord& m : before.messages) old.insert(m.text, m);
        for (MessageRecord m : after.messages) {
            const MessageRecord expected = old.value(m.text);
            QVERIFY(m.parent < m.id && m.chat == after.chat.id);
            m.id = expected.id;
            m.parent = expected.parent;
            m.chat = expected.chat;
            QCOMPARE(m, expected);
        }
        after.chat.id = before.chat.id;
        after.chat.leaf = before.chat.leaf;
        QCOMPARE(after.chat, before.chat);
    }
}

void TestExchange::chatGptIsRead() {
    const QByteArray json = R"json([{"title": "Trip", "create_time": 1700000000.5, "update_time": 1700000100,
      "current_node": "d", "mapping": {
        "root": {"id": "root", "message": null, "parent": null, "children": ["s"]},
        "s": {"message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}}, "parent": "root"},
        "a": {"message": {"author": {"role": "user"}, "create_time": 1700000001, "content": {"content_type": "multimodal_text",
              "parts": [{"content_type": "image_asset_pointer"}, "Where is this?"]}}, "parent": "s"},
        "t": {"message": {"author": {"role": "tool"}, "content": {"content_type": "text", "parts": ["secret"]}}, "parent": "a"},
        "b": {"message": {"author": {"role": "assistant"}, "create_time": 1700000002, "metadata": {"model_slug": "gpt-4o"},
              "content": {"content_type": "text", "parts": ["Rome."]}}, "parent": "t"},
        "c": {"message": {"author": {"role": "assistant"}, "create_time": 1700000003,
              "content": {"content_type": "code", "text": "print(1)"}}, "parent": "t"},
        "d": {"message": {"author": {"role": "user"}, "create_time": 1700000004,
              "content": {"content_type": "text", "parts": ["Sure?"]}}, "parent": "b"}}}])json";
    const QList<WholeChat> chats = readChats(json);
    QCOMPARE(chats.size(), 1);
    QCOMPARE(chats[0].chat.title, QStringLiteral("Trip"));
    QCOMPARE(chats[0].chat.created, 1700000000500);
    QCOMPARE(shape(chats[0]),
             (QStringList{QStringLiteral("(begin) <- [image]\n\nWhere is this?"), QStringLiteral("Rome. <- Sure?"),
                          QStringLiteral("[image]\n\nWhere is this? <- Rome."),
                          QStringLiteral("[image]\n\nWhere is this? <- ```\nprint(1)\n```")}));
    QCOMPARE(textOf(chats[0], chats[0].chat.leaf), QStringLiteral("Sure?"));
    for (const MessageRecord& m : chats[0].messages)
        if (m.text == QStringLiteral("Rome.")) QCOMPARE(m.author, QStringLiteral("gpt-4o"));
}

void TestExchange::llamaUiIsRead() {
    const QByteArray json =
        R"json([{"conv": {"id": "c1", "name": "Talk", "lastModified": 1750000000000, "currNode": "m3"},
      "messages": [
        {"id": "m0", "convId": "c1", "type": "root", "role": "system", "content": "", "parent": null, "children": ["m1"]},
        {"id": "m1", "convId": "c1", "type": "text", "role": "user", "content": "Hi", "parent": "m0", "timestamp": 1749999999000},
        {"id": "m2", "convId": "c1", "type": "text", "role": "assistant", "content": "Hello", "thinking": "greet", "parent": "m1"},
        {"id": "m3", "convId": "c1", "type": "text", "role": "assistant", "content": "Hey", "parent": "m1"}]}])json";
    const QList<WholeChat> chats = readChats(json);
    QCOMPARE(chats.size(), 1);
    QCOMPARE(chats[0].chat.updated, 1750000000000);
    QCOMPARE(shape(chats[0]), (QStringList{QStringLiteral("(begin) <- Hi"), QStringLiteral("Hi <- Hello"),
                                           QStringLiteral("Hi <- Hey")}));
    QCOMPARE(textOf(chats[0], chats[0].chat.leaf), QStringLiteral("Hey"));
    QCOMPARE(chats[0].messages[1].thinking, QStringLiteral("greet"));
}

void TestExchange::oldLlamaUiIsRead() {
    const QByteArray json = R"json({"id": "conv-1", "lastModified": 1739000000000, "messages": [
        {"id": 1739000000001, "role": "user", "content": "One"},
        {"id": 1739000000002, "role": "assistant", "content": "Two", "timings": {"predicted_n": 5}}]})json";
    const QList<WholeChat> chats = readChats(json);
    QCOMPARE(shape(chats[0]), (QStringList{QStringLiteral("(begin) <- One"), QStringLiteral("One <- Two")}));
    QCOMPARE(chats[0].chat.title, QStringLiteral("One"));
}

void TestExchange::whatIsNoChatIsRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray("hello");
    QTest::newRow("other JSON") << QByteArray("{\"a\": 1}");
    QTest::newRow("list of numbers") << QByteArray("[1, 2, 3]");
    QTest::newRow("no messages") << QByteArray("[{\"mapping\": {}}]");
    QTest::newRow("newer") << QByteArray("{\"format\": \"hearth-chats\", \"version\": 2, \"chats\": []}");
    QTest::newRow("too deep") << QByteArray(100000, '[');
}

void TestExchange::whatIsNoChatIsRefused() {
    QFETCH(QByteArray, bytes);
    try {
        (void)readChats(bytes);
        QFAIL("read all the same");
    } catch (const Error& error) {
        QVERIFY(!error.why().empty() && !error.nextStep().empty());
    }
}

void TestExchange::circlesAndOrphansAreKept() {
    const QByteArray json =
        R"json({"format": "hearth-chats", "version": 1, "chats": [{"title": "t", "leaf": 99, "messages": [
        {"id": 1, "parent": 2, "role": "user", "text": "a"}, {"id": 2, "parent": 1, "role": "user", "text": "b"},
        {"id": 3, "parent": 3, "role": "user", "text": "c"}, {"id": 4, "parent": 77, "role": "user", "text": "d"},
        {"id": 4, "parent": 4, "role": "user", "text": "e"}]}]})json";
    const QList<WholeChat> chats = readChats(json);
    QCOMPARE(chats[0].messages.size(), 5);
    ConversationModel model;
    model.load(chats[0].messages, chats[0].chat.leaf);
    QCOMPARE(model.all().size(), 5);
}

void TestExchange::damagedFilesDoNoHarm() {
    QRandomGenerator random(3);
    const QByteArray whole = toJson({sample(), sample()});
    int read = 0;
    for (int i = 0; i < 3000; ++i) {
        QByteArray bytes = whole;
        for (int n = random.bounded(1, 4); n > 0; --n) {
            const qsizetype at = random.bounded(static_cast<quint32>(bytes.size()));
            bytes[at] = random.bounded(2) == 0 ? static_cast<char>(random.bounded(256))
                                               : "0123456789{}[],:\""[random.bounded(17)];
        }
        try {
            for (const WholeChat& chat : readChats(bytes)) {
                ConversationModel model;
                model.load(chat.messages, chat.chat.leaf);
                QCOMPARE(model.all().size(), chat.messages.size());
                ++read;
            }
        } catch (const Error&) {
            // Said in words.
        }
    }
    QVERIFY(read > 100);
}

void TestExchange::peopleCanReadIt() {
    const QString markdown = toMarkdown(sample());
    QCOMPARE(markdown, QStringLiteral("# Sample\n\n## System prompt\n\nBe brief.\n\n## You\n\nq <b> & \"x\"\n\n"
                                      "## Assistant\n\n```cpp\nint x;\n```\n\n## You\n\nmore\n\n"));
    const QString html = toHtml(sample());
    QVERIFY2(html.contains(QStringLiteral("q &lt;b&gt; &amp; ")) && html.contains(QStringLiteral("int x;")),
             qPrintable(html));
    for (const char* ending : {"md", "html", "pdf", "json"}) {
        const QString path = settings_.filePath(QStringLiteral("chat.") + QLatin1StringView(ending));
        exportChat(sample(), path);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray bytes = file.readAll();
        QVERIFY(bytes.size() > 100);
        QCOMPARE(bytes.startsWith("%PDF"), ending == QLatin1StringView("pdf"));
    }
    QVERIFY_THROWS_EXCEPTION(Error, exportChat(sample(), QStringLiteral("/nowhere/at/all.md")));
    QVERIFY_THROWS_EXCEPTION(Error, exportChat(sample(), QStringLiteral("/nowhere/at/all.pdf")));
}

void TestExchange::throughTheWindow() {
    const QString path = settings_.filePath(QStringLiteral("all.json"));
    {
        test::Stage stage;
        stage.type(QStringLiteral("Take me along"));
        QVERIFY(stage.idle());
        stage.action("regenerate")->trigger();
        QVERIFY(stage.idle());
        stage.window.exportAllTo(path);
        QTRY_VERIFY(QFile::exists(path));
    }
    QSettings().clear();
    test::Stage stage;
    stage.window.importFrom(path);
    QTRY_COMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(0), QStringLiteral("Take me along"));
    QCOMPARE(stage.messages().index(1).data(ConversationModel::BranchesRole).toInt(), 2);
    stage.window.importFrom(settings_.filePath(QStringLiteral("missing.json")));
    QTRY_VERIFY(stage.window.pane().banner().isVisible());
    QVERIFY2(stage.window.pane().banner().text().contains(QStringLiteral("missing.json")),
             qPrintable(stage.window.pane().banner().text()));
}

QTEST_MAIN(TestExchange)
#include "test_exchange.moc"
