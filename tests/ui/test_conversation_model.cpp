#include <QAbstractItemModelTester>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QtTest>

#include "ui/chat/conversation_model.h"

using namespace hearth::ui;

class TestConversationModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void nothingIsLostByAnEdit();
    void aReplyGoesOnWhileAnotherBranchIsShown();
    void removedMessagesComeBack();
    void whatTheModelNoLongerSees();
    void savedAndLoadedItIsTheSame();
    void anyOrderOfThingsKeepsTheModelWhole();
};

namespace {

QString text(const ConversationModel& model, int row) { return model.index(row).data(ConversationModel::TextRole).toString(); }

void reply(ConversationModel& model, const QString& words) {
    model.beginReply(QStringLiteral("Fake"));
    model.append({{Channel::Answer, words}}, 1);
    model.endReply(MessageState::Complete, {}, {});
}

QStringList shown(const ConversationModel& model) {
    QStringList all;
    for (int row = 0; row < model.rowCount(); ++row) all << text(model, row);
    return all;
}

}  // namespace

void TestConversationModel::nothingIsLostByAnEdit() {
    ConversationModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.addUserMessage(QStringLiteral("q1"));
    reply(model, QStringLiteral("a1"));
    model.addUserMessage(QStringLiteral("q2"));
    reply(model, QStringLiteral("a2"));
    model.truncate(2);   // q2 is edited
    model.addUserMessage(QStringLiteral("q2 better"));
    reply(model, QStringLiteral("a2 better"));
    QCOMPARE(shown(model), (QStringList{QStringLiteral("q1"), QStringLiteral("a1"), QStringLiteral("q2 better"),
                                        QStringLiteral("a2 better")}));
    QCOMPARE(model.index(2).data(ConversationModel::BranchRole).toInt(), 2);
    QCOMPARE(model.index(2).data(ConversationModel::BranchesRole).toInt(), 2);
    model.selectBranch(2, -1);
    QCOMPARE(shown(model).mid(2), (QStringList{QStringLiteral("q2"), QStringLiteral("a2")}));
    model.selectBranch(2, -1);   // there is none
    QCOMPARE(text(model, 2), QStringLiteral("q2"));
    model.truncate(3);   // and answered again
    reply(model, QStringLiteral("a2 again"));
    model.selectBranch(2, 1);
    QCOMPARE(text(model, 3), QStringLiteral("a2 better"));
    model.selectBranch(2, -1);   // the branch that was seen last comes back
    QCOMPARE(text(model, 3), QStringLiteral("a2 again"));
    QCOMPARE(model.all().size(), 7);
}

void TestConversationModel::aReplyGoesOnWhileAnotherBranchIsShown() {
    ConversationModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.addUserMessage(QStringLiteral("q"));
    reply(model, QStringLiteral("first"));
    model.truncate(1);
    model.beginReply(QStringLiteral("Fake"));
    model.append({{Channel::Answer, QStringLiteral("second")}}, 1);
    model.selectBranch(1, -1);
    QCOMPARE(text(model, 1), QStringLiteral("first"));
    model.append({{Channel::Answer, QStringLiteral(" part")}}, 2);
    model.endReply(MessageState::Complete, {}, {});
    QCOMPARE(text(model, 1), QStringLiteral("first"));
    model.selectBranch(1, 1);
    QCOMPARE(text(model, 1), QStringLiteral("second part"));
}

void TestConversationModel::removedMessagesComeBack() {
    ConversationModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.addUserMessage(QStringLiteral("q1"));
    reply(model, QStringLiteral("a1"));
    model.truncate(1);
    reply(model, QStringLiteral("a1 again"));
    model.addUserMessage(QStringLiteral("q2"));
    const QList<MessageRecord> before = model.all();
    const QList<MessageRecord> gone = model.remove(1);
    QCOMPARE(gone.size(), 2);
    QCOMPARE(shown(model), (QStringList{QStringLiteral("q1"), QStringLiteral("a1")}));   // the sibling
    model.restore(gone);
    QCOMPARE(shown(model), (QStringList{QStringLiteral("q1"), QStringLiteral("a1 again"), QStringLiteral("q2")}));
    QCOMPARE(model.all(), before);
    QCOMPARE(model.remove(0).size(), 4);
    QVERIFY(model.isEmpty());
    QVERIFY(model.all().isEmpty());
}

void TestConversationModel::whatTheModelNoLongerSees() {
    ConversationModel model;
    for (int i = 0; i < 3; ++i) {
        model.addUserMessage(QStringLiteral("q"));
        reply(model, i == 0 ? QString() : QStringLiteral("a"));   // the first reply stayed empty and is not sent
    }
    // What is sent: q q joined, a, q, a. Two of these out are the first four rows.
    model.setOutside(2);
    QList<bool> outside;
    for (int row = 0; row < model.rowCount(); ++row)
        outside << model.index(row).data(ConversationModel::OutsideRole).toBool();
    QCOMPARE(outside, (QList<bool>{true, true, true, true, false, false}));
    model.setOutside(0);
    QVERIFY(!model.index(0).data(ConversationModel::OutsideRole).toBool());
}

void TestConversationModel::savedAndLoadedItIsTheSame() {
    ConversationModel model;
    QSignalSpy changed(&model, &ConversationModel::messageChanged);
    model.addUserMessage(QStringLiteral("q"));
    reply(model, QStringLiteral("a"));
    model.truncate(0);
    model.addUserMessage(QStringLiteral("q other"));
    QVERIFY(changed.size() >= 4);
    model.selectBranch(0, -1);
    ConversationModel again;
    QList<MessageRecord> shuffled = model.all();
    std::reverse(shuffled.begin(), shuffled.end());
    again.load(shuffled, model.leaf());
    QCOMPARE(shown(again), shown(model));
    QCOMPARE(again.all(), model.all());
    QCOMPARE(again.index(0).data(ConversationModel::BranchesRole).toInt(), 2);
}

/// Many random steps, with a model of the tree kept beside: the texts that exist are those that were ever added and not removed.
void TestConversationModel::anyOrderOfThingsKeepsTheModelWhole() {
    QRandomGenerator random(5);
    ConversationModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QSet<QString> alive;
    for (int step = 0; step < 600; ++step) {
        const int rows = model.rowCount(), row = rows > 0 ? random.bounded(rows) : 0;
        const QString words = QString::number(step);
        switch (random.bounded(5)) {
            case 0: model.truncate(row); [[fallthrough]];
            case 1:
                model.addUserMessage(words);
                alive.insert(words);
                break;
            case 2:
                reply(model, words);
                alive.insert(words);
                break;
            case 3: model.selectBranch(row, random.bounded(2) == 0 ? -1 : 1); break;
            default:
                if (random.bounded(6) != 0) break;
                const QList<MessageRecord> gone = model.remove(row);
                if (random.bounded(2) == 0) model.restore(gone);
                else
                    for (const MessageRecord& m : gone) alive.remove(m.text);
        }
        for (int r = 1; r < model.rowCount(); ++r)
            QCOMPARE(model.record(model.index(r).data(ConversationModel::IdRole).toLongLong()).parent,
                     model.index(r - 1).data(ConversationModel::IdRole).toLongLong());
    }
    QSet<QString> there;
    for (const MessageRecord& m : model.all()) there.insert(m.text);
    QCOMPARE(there, alive);
    QVERIFY(alive.size() > 100);
}

QTEST_GUILESS_MAIN(TestConversationModel)
#include "test_conversation_model.moc"
