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

}  // namespace

/// The file of chats as older, newer and damaged ones are.
class TestStoreFiles : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void olderFilesAreBroughtUpToDate();
    void newerFilesAreLeftAlone();
    void damagedFilesArePutAside_data();
    void damagedFilesArePutAside();
    void nonsenseInTheFileIsRead();
    void withoutAFileTheProgramGoesOn();

private:
    std::unique_ptr<QTemporaryDir> folder_;
    QString path_;
};

void TestStoreFiles::init() {
    folder_ = std::make_unique<QTemporaryDir>();
    QVERIFY(folder_->isValid());
    path_ = folder_->filePath(QStringLiteral("chats.db"));
}

void TestStoreFiles::olderFilesAreBroughtUpToDate() {
    const Database::Schema old = {
        {QStringLiteral("CREATE TABLE note(text TEXT NOT NULL)"), QStringLiteral("INSERT INTO note VALUES('kept')")}};
    Database::Schema newer = old;
    newer << QStringList{QStringLiteral("ALTER TABLE note ADD COLUMN number INTEGER NOT NULL DEFAULT 7")}
          << Database::schema()[0];
    {
        QSqlDatabase file = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("old"));
        file.setDatabaseName(path_);
        QVERIFY(file.open());
        for (const QString& statement : old[0]) QVERIFY(QSqlQuery(file).exec(statement));
        QVERIFY(QSqlQuery(file).exec(QStringLiteral("PRAGMA user_version = 1")));
    }
    QSqlDatabase::removeDatabase(QStringLiteral("old"));
    {
        const Database database(path_, true, newer);
    }
    const auto ask = [](const QString& path, const QString& sql) {
        QVariant answer;
        {
            QSqlDatabase file = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("ask"));
            file.setDatabaseName(path);
            if (QSqlQuery query(file); file.open() && (query = QSqlQuery(sql, file)).next()) answer = query.value(0);
        }
        QSqlDatabase::removeDatabase(QStringLiteral("ask"));
        return answer;
    };
    QCOMPARE(ask(path_, QStringLiteral("SELECT text || number FROM note")).toString(), QStringLiteral("kept7"));
    QCOMPARE(ask(path_, QStringLiteral("PRAGMA user_version")).toInt(), 3);
    const QString copy = path_ + QStringLiteral(".version-1");
    QCOMPARE(ask(copy, QStringLiteral("SELECT text FROM note")).toString(), QStringLiteral("kept"));
    QCOMPARE(ask(copy, QStringLiteral("PRAGMA user_version")).toInt(), 0 + 1);
}

void TestStoreFiles::newerFilesAreLeftAlone() {
    {
        Database::Schema future = Database::schema();
        future << QStringList{QStringLiteral("CREATE TABLE future(x)")};
        const Database database(path_, true, future);
    }
    Store store(path_);
    QSignalSpy problem(&store, &Store::problem), ready(&store, &Store::ready);
    QVERIFY(ready.wait());
    QCOMPARE(problem.size(), 1);
    QVERIFY2(problem[0][0].toString().contains(QStringLiteral("newer version")), qPrintable(problem[0][0].toString()));
    store.save(chatOf(1, QStringLiteral("only for now")));   // kept until the program ends
    QVERIFY(store.chats().contains(1));
}

void TestStoreFiles::damagedFilesArePutAside_data() {
    QTest::addColumn<QString>("how");
    QTest::newRow("no database at all") << QStringLiteral("text");
    QTest::newRow("cut short after a crash") << QStringLiteral("cut");
    QTest::newRow("overwritten in the middle after a crash") << QStringLiteral("middle");
}

void TestStoreFiles::damagedFilesArePutAside() {
    QFETCH(QString, how);
    QByteArray bytes = "This is not a database, but somebody's letter.";
    if (how != QStringLiteral("text")) {
        {
            Store store(path_);
            store.save(chatOf(1, QStringLiteral("t")));
            for (qint64 i = 1; i < 400; ++i)
                store.save(messageOf(i, 1, i - 1, QStringLiteral("some text ").repeated(40)));
        }
        QFile file(path_);
        QVERIFY(file.open(QIODevice::ReadOnly));
        bytes = file.readAll();
        QVERIFY(bytes.size() > 100000);
        if (how == QStringLiteral("cut")) bytes.truncate(bytes.size() / 2);
        else
            for (qsizetype i = 20000; i < 90000; ++i) bytes[i] = static_cast<char>(i * 7);
        QFile log(path_ + QStringLiteral("-wal"));   // as a crash leaves it
        QVERIFY(log.open(QIODevice::WriteOnly));
    }
    QFile file(path_);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
    file.close();
    {
        Store store(path_);
        QSignalSpy problem(&store, &Store::problem), ready(&store, &Store::ready);
        QVERIFY(ready.wait());
        QCOMPARE(problem.size(), 1);
        QVERIFY2(problem[0][0].toString().contains(QStringLiteral("put aside")), qPrintable(problem[0][0].toString()));
        QVERIFY(store.chats().isEmpty());
        store.save(chatOf(9, QStringLiteral("works again")));
    }
    Store again(path_);
    QVERIFY(QSignalSpy(&again, &Store::ready).wait());
    QVERIFY(again.chats().contains(9));
    const QStringList aside = QDir(folder_->path()).entryList({QStringLiteral("chats.db.damaged-*")});
    bool same = false;
    for (const QString& name : aside) {
        QFile kept(folder_->filePath(name));
        same |= kept.open(QIODevice::ReadOnly) && kept.readAll() == bytes;
    }
    QVERIFY2(same, qPrintable(aside.join(u' ')));
}

void TestStoreFiles::nonsenseInTheFileIsRead() {
    {
        const Database database(path_, true);
    }
    {
        QSqlDatabase file = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("hostile"));
        file.setDatabaseName(path_);
        QVERIFY(file.open());
        const QStringList statements = {
            QStringLiteral("INSERT INTO chat VALUES(1, 77, 't', '', '{not json', 12345, -5, 'yesterday', 0)"),
            QStringLiteral("INSERT INTO message VALUES(10, 1, 11, 99, -3, 'a', 'one', '', '', 0, -1, 'x', 0, 0, 50)"),
            QStringLiteral("INSERT INTO message VALUES(11, 1, 10, 2, 1000, 'a', 'two', '', '', 0, 0, 0, 0, 0, 0)"),
            QStringLiteral("INSERT INTO message VALUES(12, 1, 12, 0, 0, 'a', 'three', '', '', 0, 0, 0, 0, 0, 0)"),
            QStringLiteral("INSERT INTO message VALUES(-4, 1, 4444, 0, 0, 'a', x'00ff', '', '', 0, 0, 0, 0, 0, 0)")};
        for (const QString& statement : statements) QVERIFY2(QSqlQuery(file).exec(statement), qPrintable(statement));
    }
    QSqlDatabase::removeDatabase(QStringLiteral("hostile"));
    Store store(path_);
    QVERIFY(QSignalSpy(&store, &Store::ready).wait());
    QVERIFY(ReplyChoices::fromJson(store.chats().value(1).options) == ReplyChoices{});
    QSignalSpy loaded(&store, &Store::loaded);
    store.load(1);
    QVERIFY(loaded.wait());
    const auto messages = loaded[0][1].value<QList<MessageRecord>>();
    QCOMPARE(messages.size(), 4);
    for (const MessageRecord& m : messages) {
        QVERIFY(m.role >= Role::System && m.role <= Role::Assistant);
        QVERIFY(m.state >= MessageState::Complete && m.state <= MessageState::Interrupted);
        QVERIFY(std::abs(m.rating) <= 1);
    }
    ConversationModel model;
    model.load(messages, 12345);   // circles and missing parents end here
    QVERIFY(model.rowCount() >= 1 && model.rowCount() <= 4);
    QCOMPARE(model.all().size(), 3);
}

void TestStoreFiles::withoutAFileTheProgramGoesOn() {
    const QString nowhere = folder_->filePath(QStringLiteral("file")) + QStringLiteral("/chats.db");
    QFile file(folder_->filePath(QStringLiteral("file")));   // a file where a folder should be
    QVERIFY(file.open(QIODevice::WriteOnly));
    Store store(nowhere);
    QSignalSpy problem(&store, &Store::problem), ready(&store, &Store::ready), found(&store, &Store::found),
        loaded(&store, &Store::loaded);
    QVERIFY(ready.wait());
    QCOMPARE(problem.size(), 1);
    QVERIFY2(problem[0][0].toString().contains(nowhere), qPrintable(problem[0][0].toString()));
    store.save(chatOf(1, QStringLiteral("now")));
    store.search(QStringLiteral("now"));
    QVERIFY(found.wait());
    store.load(1);
    QVERIFY(loaded.wait());
}

QTEST_GUILESS_MAIN(TestStoreFiles)
#include "test_store_files.moc"
