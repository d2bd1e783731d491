#include <QAbstractItemModelTester>
#include <QDateTime>
#include <QMimeData>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/chats/chat_list_pane.h"

using namespace hearth::ui;

class TestChats : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void chatsAreGroupedByFolderAndAge();
    void aChangedChatMovesUp();
    void chatsMoveToFolders();
    void typingFilters();
    void searchLooksIntoMessages();
    void randomChangesKeepTheModelWhole();
    void thousandsAreFilteredSoon();

private:
    ChatRecord chat(qint64 id, const QString& title, int days_ago) const {
        const qint64 then = QDateTime::currentDateTime().addDays(-days_ago).toMSecsSinceEpoch();
        return {.id = id, .title = title, .created = then, .updated = then};
    }
    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<Store> store_;
};

namespace {

/// Groups and titles, one a line, titles indented.
QStringList seen(const QAbstractItemModel& model) {
    QStringList all;
    for (int g = 0; g < model.rowCount(); ++g) {
        const QModelIndex group = model.index(g, 0);
        all << group.data().toString();
        for (int r = 0; r < model.rowCount(group); ++r) all << u' ' + model.index(r, 0, group).data().toString();
    }
    return all;
}

}  // namespace

void TestChats::init() {
    store_.reset();
    folder_ = std::make_unique<QTemporaryDir>();
    store_ = std::make_unique<Store>(folder_->filePath(QStringLiteral("chats.db")));
    QVERIFY(QSignalSpy(store_.get(), &Store::ready).wait());
}

void TestChats::chatsAreGroupedByFolderAndAge() {
    ChatListModel model(*store_);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    store_->save(chat(1, QStringLiteral("now"), 0));
    store_->save(chat(2, QStringLiteral("old"), 400));
    store_->save(chat(3, QStringLiteral("week"), 5));
    store_->save(chat(4, QStringLiteral("yesterday"), 1));
    store_->save(chat(5, QStringLiteral("month"), 20));
    store_->save(FolderRecord{50, QStringLiteral("Work")});
    ChatRecord inside = chat(6, QStringLiteral("at work"), 100);
    inside.folder = 50;
    store_->save(inside);
    const QStringList expected = {QStringLiteral("Work"),         QStringLiteral(" at work"),
                                  QStringLiteral("Today"),        QStringLiteral(" now"),
                                  QStringLiteral("Yesterday"),    QStringLiteral(" yesterday"),
                                  QStringLiteral("Last 7 days"),  QStringLiteral(" week"),
                                  QStringLiteral("Last 30 days"), QStringLiteral(" month"),
                                  QStringLiteral("Older"),        QStringLiteral(" old")};
    QCOMPARE(seen(model), expected);
    QCOMPARE(seen(ChatListModel(*store_)), expected);   // the same when made at once
    store_->removeChat(4);
    QVERIFY(!seen(model).contains(QStringLiteral("Yesterday")));
    store_->restoreChat(4);
    QCOMPARE(seen(model), expected);
}

void TestChats::aChangedChatMovesUp() {
    ChatListModel model(*store_);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    store_->save(chat(1, QStringLiteral("a"), 0));
    ChatRecord second = chat(2, QStringLiteral("b"), 3);
    store_->save(second);
    second.updated = QDateTime::currentMSecsSinceEpoch() + 1000;
    store_->save(second);
    QCOMPARE(seen(model), (QStringList{QStringLiteral("Today"), QStringLiteral(" b"), QStringLiteral(" a")}));
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged), removed(&model, &QAbstractItemModel::rowsRemoved);
    QVERIFY(model.setData(model.indexOf(2), QStringLiteral("  c\n d "), Qt::EditRole));
    QCOMPARE(changed.size(), 1);
    QCOMPARE(removed.size(), 0);   // stays where it is, selected or not
    QCOMPARE(store_->chats().value(2).title, QStringLiteral("c d"));
    QVERIFY(!model.setData(model.indexOf(2), QStringLiteral("  "), Qt::EditRole));
}

void TestChats::chatsMoveToFolders() {
    ChatListModel model(*store_);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    store_->save(FolderRecord{50, QStringLiteral("Work")});
    store_->save(chat(1, QStringLiteral("a"), 0));
    const std::unique_ptr<QMimeData> dragged(model.mimeData({model.indexOf(1)}));
    model.dropMimeData(dragged.get(), Qt::MoveAction, -1, -1, model.index(0, 0));
    QCOMPARE(store_->chats().value(1).folder, 50);
    QCOMPARE(seen(model), (QStringList{QStringLiteral("Work"), QStringLiteral(" a")}));
    store_->removeFolder(50);
    QCOMPARE(seen(model), (QStringList{QStringLiteral("Today"), QStringLiteral(" a")}));
}

void TestChats::typingFilters() {
    ChatListPane pane(*store_);
    store_->save(chat(1, QStringLiteral("Loop performance"), 0));
    store_->save(chat(2, QStringLiteral("Pancakes"), 0));
    QTest::keyClicks(&pane.searchLine(), QStringLiteral("perf LOOP"));
    QCOMPARE(seen(*pane.tree().model()), (QStringList{QStringLiteral("Today"), QStringLiteral(" Loop performance")}));
    QTest::keyClick(&pane.searchLine(), Qt::Key_Escape);
    QCOMPARE(seen(*pane.tree().model()).size(), 3);
    QSignalSpy chosen(&pane, &ChatListPane::chatChosen);
    pane.setCurrent(2);
    QCOMPARE(pane.current(), 2);
    QCOMPARE(chosen.size(), 0);
    QTest::keyClick(&pane.tree(), Qt::Key_Return);
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen[0][0].toLongLong(), 2);
    QSignalSpy removal(&pane, &ChatListPane::removeRequested);
    QTest::keyClick(&pane.tree(), Qt::Key_Delete);
    QCOMPARE(removal[0][0].toLongLong(), 2);
}

void TestChats::searchLooksIntoMessages() {
    ChatListPane pane(*store_);
    const QAbstractItemModelTester tester(pane.tree().model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    store_->save(chat(1, QStringLiteral("First"), 0));
    store_->save(chat(2, QStringLiteral("Second"), 9));
    store_->save(MessageRecord{.id = 22, .chat = 2, .text = QStringLiteral("There is buried treasure here")});
    QSignalSpy loaded(store_.get(), &Store::loaded);
    store_->load(2);
    QVERIFY(loaded.wait());
    QTest::keyClicks(&pane.searchLine(), QStringLiteral("treasure"));
    QTRY_COMPARE(pane.tree().model()->rowCount(), 1);
    const QModelIndex hit = pane.tree().model()->index(0, 0, pane.tree().model()->index(0, 0));
    QVERIFY2(hit.data().toString().contains(QStringLiteral("buried treasure")), qPrintable(hit.data().toString()));
    QSignalSpy chosen(&pane, &ChatListPane::chatChosen);
    pane.tree().setCurrentIndex(hit);
    QTest::keyClick(&pane.tree(), Qt::Key_Return);
    QCOMPARE(chosen[0][0].toLongLong(), 2);
    QCOMPARE(chosen[0][1].toLongLong(), 22);
}

void TestChats::randomChangesKeepTheModelWhole() {
    QRandomGenerator random(11);
    ChatListPane pane(*store_);
    const QAbstractItemModelTester tester(&pane.chats(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QAbstractItemModelTester proxy(pane.tree().model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (int step = 0; step < 300; ++step) {
        const qint64 id = random.bounded(1, 30);
        switch (random.bounded(5)) {
            case 0: store_->removeChat(id); break;
            case 1: store_->restoreChat(id); break;
            case 2: store_->save(FolderRecord{100 + id % 4, QStringLiteral("F%1").arg(random.bounded(9))}); break;
            case 3: store_->removeFolder(100 + id % 4); break;
            default:
                ChatRecord c = chat(id, QStringLiteral("T%1").arg(step), random.bounded(60));
                c.folder = random.bounded(2) == 0 ? 0 : 100 + id % 4;
                store_->save(c);
        }
        if (step % 50 == 0) pane.searchLine().setText(step % 100 == 0 ? QStringLiteral("T1") : QString());
        QCOMPARE(seen(pane.chats()), seen(ChatListModel(*store_)));   // as if made anew
    }
}

void TestChats::thousandsAreFilteredSoon() {
    for (qint64 id = 1; id <= 2000; ++id)
        store_->save(chat(id, QStringLiteral("Chat number %1 about things").arg(id), static_cast<int>(id % 300)));
    ChatListPane pane(*store_);
    pane.resize(260, 600);
    pane.show();
    QElapsedTimer clock;
    clock.start();
    pane.searchLine().setText(QStringLiteral("77"));
    qInfo("a list of 2000 chats is filtered in %lld ms", clock.elapsed());
    int left = 0;
    for (int g = 0; g < pane.tree().model()->rowCount(); ++g)
        left += pane.tree().model()->rowCount(pane.tree().model()->index(g, 0));
    int expected = 0;
    for (int id = 1; id <= 2000; ++id) expected += QString::number(id).contains(QStringLiteral("77"));
    QCOMPARE(left, expected);
}

QTEST_MAIN(TestChats)
#include "test_chats.moc"
