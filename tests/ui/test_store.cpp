#include <QProcess>
#include <QSignalSpy>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/base/error.h"
#include "tests/ui/fake_engine.h"
#include "ui/chat/chat.h"
#include "ui/store/database.h"
#include "ui/store/store.h"

using namespace hearth;
using namespace hearth::ui;

namespace {

ChatRecord chatOf(qint64 id, const QString& title) { return {.id = id, .title = title, .created = id, .updated = id}; }

MessageRecord messageOf(qint64 id, qint64 chat, qint64 parent, const QString& text, Role role = Role::User) {
    return {.id = id, .chat = chat, .parent = parent, .role = role, .text = text, .created = id};
}

/// Writes replies until it is killed, saying how much each save holds.
int writeForEver(const QString& path) {
    auto script = std::make_shared<test::Script>();
    script->pieces = test::piecesOf(QStringLiteral("word ").repeated(200000), 5);
    script->pause_us = 500;
    Worker worker(std::make_unique<test::FakeEngine>(script));
    Store store(path);
    Chat chat(worker, store);
    worker.load(QStringLiteral("/models/fake.gguf"));
    QObject::connect(&worker, &Worker::modelChanged, &chat, [&chat] {
        QTimer::singleShot(0, &chat, [&chat] { chat.send(QStringLiteral("Go on for ever")); });
    });
    QTimer told;
    QObject::connect(&told, &QTimer::timeout, &told,
                     [&chat] { QTextStream(stdout) << chat.lastAnswer().size() << Qt::endl; });
    told.start(50);
    return QCoreApplication::exec();
}

}  // namespace

class TestStore : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void whatIsSavedIsThereAgain();
    void aDeletedChatCanComeBack();
    void foldersHoldChats();
    void searchFindsEveryWord_data();
    void searchFindsEveryWord();
    void whatWasDeletedIsNotFound();
    void aKilledProgramLosesTwoSeconds();

private:
    std::unique_ptr<QTemporaryDir> folder_;
    QString path_;
};

void TestStore::init() {
    folder_ = std::make_unique<QTemporaryDir>();
    QVERIFY(folder_->isValid());
    path_ = folder_->filePath(QStringLiteral("chats.db"));
}

void TestStore::whatIsSavedIsThereAgain() {
    const MessageRecord question = messageOf(101, 1, 0, QStringLiteral("Grüße, 世界 \U0001F525\n\nsecond line"));
    MessageRecord answer = messageOf(102, 1, 101, QStringLiteral("Hello"), Role::Assistant);
    answer.author = QStringLiteral("Fake");
    answer.thinking = QStringLiteral("hm");
    answer.notes = {QStringLiteral("One note."), QStringLiteral("Another.")};
    answer.tokens = 7;
    answer.seconds = 1.5;
    answer.thinking_seconds = 0.5;
    answer.speed = 12.25;
    answer.rating = -1;
    ChatRecord chat = chatOf(1, QStringLiteral("A chat"));
    chat.system_prompt = QStringLiteral("Be brief.");
    chat.options = QStringLiteral("{\"temperature\":0.5}");
    chat.leaf = 102;
    {
        Store store(path_);
        store.save(chat);
        store.save(question);
        store.save(answer);
        store.setDraft(1, QStringLiteral("half a thou"));
        store.setDraft(0, QStringLiteral("unsent"));
    }
    Store store(path_);
    QVERIFY(QSignalSpy(&store, &Store::ready).wait());
    QCOMPARE(store.chats().size(), 1);
    QCOMPARE(store.chats().value(1), chat);
    QCOMPARE(store.draft(1), QStringLiteral("half a thou"));
    QCOMPARE(store.draft(0), QStringLiteral("unsent"));
    QSignalSpy loaded(&store, &Store::loaded);
    store.load(1);
    QVERIFY(loaded.wait());
    QCOMPARE(loaded[0][1].value<QList<MessageRecord>>(), (QList<MessageRecord>{question, answer}));
    // Changed, and read after that without waiting.
    answer.text = QStringLiteral("Hello again");
    store.save(answer);
    store.load(1);
    QVERIFY(loaded.wait());
    QCOMPARE(loaded[1][1].value<QList<MessageRecord>>()[1].text, answer.text);
}

void TestStore::aDeletedChatCanComeBack() {
    {
        Store store(path_);
        store.save(chatOf(1, QStringLiteral("kept")));
        store.save(chatOf(2, QStringLiteral("gone")));
        store.save(messageOf(20, 2, 0, QStringLiteral("secret words")));
        store.removeChat(1);
        store.restoreChat(1);
        store.removeChat(2);
        QVERIFY(!store.chats().contains(2));
    }
    {
        Store store(path_);
        QVERIFY(QSignalSpy(&store, &Store::ready).wait());
        QCOMPARE(store.chats().keys(), QList<qint64>{1});
    }
    // By then it is gone for good, with its messages.
    QFile file(path_);
    Database database(path_, false);
    QVERIFY(database.messages(2).isEmpty());
    QVERIFY(database.search(QStringLiteral("secret")).isEmpty());
}

void TestStore::foldersHoldChats() {
    Store store(path_);
    QVERIFY(QSignalSpy(&store, &Store::ready).wait());
    store.save(FolderRecord{5, QStringLiteral("Work")});
    store.save(FolderRecord{6, QStringLiteral("Home")});
    QCOMPARE(store.folders().size(), 2);
    QCOMPARE(store.folders()[0].name, QStringLiteral("Home"));
    ChatRecord chat = chatOf(1, QStringLiteral("in it"));
    chat.folder = 5;
    store.save(chat);
    QSignalSpy changed(&store, &Store::chatChanged);
    store.removeFolder(5);
    QCOMPARE(store.chats().value(1).folder, 0);
    QCOMPARE(changed.size(), 1);
}

void TestStore::searchFindsEveryWord_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<QList<qint64>>("chats");
    QTest::newRow("word") << QStringLiteral("kernel") << QList<qint64>{1};
    QTest::newRow("part of a word, another case") << QStringLiteral("ERNE") << QList<qint64>{1};
    QTest::newRow("two words apart") << QStringLiteral("loop memory") << QList<qint64>{1};
    QTest::newRow("Chinese") << QStringLiteral("天气很") << QList<qint64>{2};
    QTest::newRow("two characters") << QStringLiteral("天气") << QList<qint64>{2};
    QTest::newRow("short and long") << QStringLiteral("is loop") << QList<qint64>{1};
    QTest::newRow("quotation mark") << QStringLiteral("\"quoted\"") << QList<qint64>{3};
    QTest::newRow("per cent") << QStringLiteral("5%") << QList<qint64>{3};
    QTest::newRow("operators are words") << QStringLiteral("kernel OR quoted") << QList<qint64>{};
    QTest::newRow("nothing") << QStringLiteral("  ") << QList<qint64>{};
    QTest::newRow("on another branch") << QStringLiteral("forgotten") << QList<qint64>{3};
}

void TestStore::searchFindsEveryWord() {
    QFETCH(QString, words);
    QFETCH(QList<qint64>, chats);
    Store store(path_);
    QVERIFY(QSignalSpy(&store, &Store::ready).wait());
    for (const qint64 id : {1, 2, 3}) store.save(chatOf(id, QStringLiteral("untitled")));
    store.save(messageOf(10, 1, 0, QStringLiteral("My kernel is slow: the loop reads memory by column")));
    store.save(messageOf(20, 2, 0, QStringLiteral("今天天气很好，我们去公园吧")));
    store.save(messageOf(30, 3, 0, QStringLiteral("a \"quoted\" word and 5% more")));
    store.save(messageOf(31, 3, 0, QStringLiteral("the forgotten branch")));
    QSignalSpy loaded(&store, &Store::loaded);   // by then all of it is written
    store.load(3);
    QVERIFY(loaded.wait());
    QSignalSpy found(&store, &Store::found);
    const quint64 number = store.search(words);
    QVERIFY(found.wait());
    QCOMPARE(found[0][0].toULongLong(), number);
    QList<qint64> got;
    for (const SearchHit& hit : found[0][1].value<QList<SearchHit>>()) got << hit.chat;
    QCOMPARE(got, chats);
}

void TestStore::whatWasDeletedIsNotFound() {
    Store store(path_);
    QVERIFY(QSignalSpy(&store, &Store::ready).wait());
    store.save(chatOf(1, QStringLiteral("t")));
    MessageRecord message = messageOf(10, 1, 0, QStringLiteral("first version"));
    store.save(message);
    message.text = QStringLiteral("second edition");
    store.save(message);
    store.save(messageOf(11, 1, 10, QStringLiteral("a reply that goes")));
    store.removeMessages({11});
    QSignalSpy loaded(&store, &Store::loaded);
    store.load(1);
    QVERIFY(loaded.wait());
    QSignalSpy found(&store, &Store::found);
    for (const auto& [words, hits] : QList<QPair<QString, int>>{
             {QStringLiteral("version"), 0}, {QStringLiteral("edition"), 1}, {QStringLiteral("reply"), 0}}) {
        store.search(words);
        QVERIFY(found.wait());
        QCOMPARE(found.last()[1].value<QList<SearchHit>>().size(), hits);
    }
}

void TestStore::aKilledProgramLosesTwoSeconds() {
    QProcess program;
    program.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--write"), path_});
    QVERIFY(program.waitForStarted());
    // Long enough for one save in the middle, and killed well after it.
    QList<qsizetype> sizes;
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 20000 && sizes.size() < 100) {
        program.waitForReadyRead(100);
        while (program.canReadLine()) sizes << program.readLine().trimmed().toLongLong();
    }
    program.kill();
    QVERIFY(program.waitForFinished());
    QVERIFY2(sizes.size() >= 100, qPrintable(QString::number(sizes.size())));

    Store store(path_);
    QVERIFY(QSignalSpy(&store, &Store::ready).wait());
    QCOMPARE(store.chats().size(), 1);
    const ChatRecord chat = *store.chats().cbegin();
    QCOMPARE(chat.title, QStringLiteral("Go on for ever"));
    QSignalSpy loaded(&store, &Store::loaded);
    store.load(chat.id);
    QVERIFY(loaded.wait());
    const auto messages = loaded[0][1].value<QList<MessageRecord>>();
    QCOMPARE(messages.size(), 2);
    QVERIFY(messages[1].state == MessageState::Interrupted);
    // Each line is 50 ms and more; 2 s and a half ago there were at least so many characters.
    const qsizetype before = sizes[sizes.size() - 50];
    QVERIFY2(messages[1].text.size() >= before && before > 0,
             qPrintable(QStringLiteral("%1 of %2").arg(messages[1].text.size()).arg(before)));
    QVERIFY(messages[1].text.startsWith(QStringLiteral("word word ")));
}

int main(int argc, char** argv) {
    QCoreApplication app(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 3 && arguments[1] == QStringLiteral("--write")) return writeForEver(arguments[2]);
    TestStore test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_store.moc"
