#include <QSignalSpy>
#include <QtTest>

#include "tests/ui/fake_engine.h"
#include "ui/worker/worker.h"

using namespace hearth;
using namespace hearth::ui;
using test::FakeEngine;
using test::Script;

class TestWorker : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyRequestEndsOnce();
    void textComesOnceAFrameAndWhole();
    void stopIsSeenAtOnce();
    void stopEndsWhatWaits();
    void aFailureHasWords();
    void aFailedLoadKeepsTheModel();
    void theEndOfTheWindowStopsTheEngine();
};

namespace {

/// Counts endings by request.
struct Endings {
    QMap<quint64, QStringList> all;
    explicit Endings(Worker& worker) {
        QObject::connect(&worker, &Worker::finished, &worker,
                         [this](quint64 r) { all[r] << QStringLiteral("finished"); });
        QObject::connect(&worker, &Worker::stopped, &worker,
                         [this](quint64 r) { all[r] << QStringLiteral("stopped"); });
        QObject::connect(&worker, &Worker::failed, &worker, [this](quint64 r) { all[r] << QStringLiteral("failed"); });
    }
};

const QList<ChatMessage> question = {{Role::User, QStringLiteral("Hi")}};

}  // namespace

void TestWorker::everyRequestEndsOnce() {
    auto script = std::make_shared<Script>();
    Worker worker(std::make_unique<FakeEngine>(script));
    Endings endings(worker);
    QSignalSpy busy(&worker, &Worker::busyChanged);
    const quint64 load = worker.load(QStringLiteral("x.gguf")), reply = worker.reply(question),
                  unload = worker.unload();
    QVERIFY(worker.busy());
    QTRY_VERIFY(!worker.busy());
    QCOMPARE(endings.all.value(load), QStringList{QStringLiteral("finished")});
    QCOMPARE(endings.all.value(reply), QStringList{QStringLiteral("finished")});
    QCOMPARE(endings.all.value(unload), QStringList{QStringLiteral("finished")});
    QCOMPARE(busy.size(), 2);
    QVERIFY(!worker.model());
}

void TestWorker::textComesOnceAFrameAndWhole() {
    auto script = std::make_shared<Script>();
    QString text;
    for (int i = 0; i < 2000; ++i) text += QStringLiteral("word%1 ä€😀 ").arg(i);
    script->pieces = test::piecesOf(text, 6);
    script->pause_us = 50;
    Worker worker(std::make_unique<FakeEngine>(script));
    QString arrived;
    int frames = 0;
    bool ended = false, late = false;
    connect(&worker, &Worker::textArrived, this, [&](quint64, const QList<TextPiece>& pieces) {
        ++frames;
        late |= ended;
        for (const TextPiece& p : pieces) arrived += p.text;
    });
    connect(&worker, &Worker::finished, this, [&] { ended = true; });
    QElapsedTimer clock;
    clock.start();
    worker.reply(question);
    QTRY_VERIFY_WITH_TIMEOUT(ended, 30000);
    QCOMPARE(arrived, text);
    QVERIFY(!late);
    QVERIFY2(frames <= clock.elapsed() / 16 + 2,
             qPrintable(QStringLiteral("%1 frames in %2 ms").arg(frames).arg(clock.elapsed())));
    QVERIFY(frames < script->pieces.size() / 4);
}

void TestWorker::stopIsSeenAtOnce() {
    auto script = std::make_shared<Script>();
    script->endless = true;
    Worker worker(std::make_unique<FakeEngine>(script));
    Endings endings(worker);
    const quint64 reply = worker.reply(question);
    QTRY_COMPARE(script->replies.load(), 1);
    QElapsedTimer clock;
    clock.start();
    worker.stop();
    QTRY_VERIFY(!worker.busy());
    QVERIFY2(clock.elapsed() <= 200, qPrintable(QString::number(clock.elapsed())));
    QCOMPARE(endings.all.value(reply), QStringList{QStringLiteral("stopped")});
}

void TestWorker::stopEndsWhatWaits() {
    auto script = std::make_shared<Script>();
    script->endless = true;
    Worker worker(std::make_unique<FakeEngine>(script));
    Endings endings(worker);
    const quint64 first = worker.reply(question), second = worker.reply(question);
    QTRY_COMPARE(script->replies.load(), 1);
    worker.stop();
    QTRY_VERIFY(!worker.busy());
    QCOMPARE(script->replies.load(), 1);
    QCOMPARE(endings.all.value(first), QStringList{QStringLiteral("stopped")});
    QCOMPARE(endings.all.value(second), QStringList{QStringLiteral("stopped")});
}

void TestWorker::aFailureHasWords() {
    auto script = std::make_shared<Script>();
    script->fails = true;
    Worker worker(std::make_unique<FakeEngine>(script));
    Failure failure;
    QString text;
    connect(&worker, &Worker::failed, this, [&](quint64, const Failure& f) { failure = f; });
    connect(&worker, &Worker::textArrived, this,
            [&](quint64, const QList<TextPiece>& pieces) { text += pieces.first().text; });
    worker.reply(question);
    QTRY_VERIFY(!worker.busy());
    QCOMPARE(failure.what, QStringLiteral("cannot go on"));
    QCOMPARE(failure.why, QStringLiteral("the memory is full"));
    QCOMPARE(failure.next, QStringLiteral("Choose a smaller context"));
    QCOMPARE(text, QStringLiteral("Hello."));
}

void TestWorker::aFailedLoadKeepsTheModel() {
    auto script = std::make_shared<Script>();
    Worker worker(std::make_unique<FakeEngine>(script));
    worker.load(QStringLiteral("good.gguf"));
    QTRY_VERIFY(worker.model());
    script->load_fails = true;
    worker.load(QStringLiteral("bad.gguf"));
    QTRY_VERIFY(!worker.busy());
    QVERIFY(worker.model());
    QCOMPARE(worker.model()->path, QStringLiteral("good.gguf"));
}

void TestWorker::theEndOfTheWindowStopsTheEngine() {
    auto script = std::make_shared<Script>();
    script->endless = true;
    auto worker = std::make_unique<Worker>(std::make_unique<FakeEngine>(script));
    worker->reply(question);
    QTRY_COMPARE(script->replies.load(), 1);
    QElapsedTimer clock;
    clock.start();
    worker.reset();
    QVERIFY2(clock.elapsed() <= 500, qPrintable(QString::number(clock.elapsed())));
}

QTEST_MAIN(TestWorker)
#include "test_worker.moc"
