// What the window costs the GUI thread: frames while a reply of 32 KB streams in, opening a chat of 500 messages, filtering a
// list of 2000 chats, and starting.
#include <QApplication>
#include <QDateTime>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "tests/ui/fake_engine.h"
#include "tests/ui/fake_machine.h"
#include "ui/main_window.h"

using namespace hearth;
using namespace hearth::ui;

namespace {

/// Of this thread, in ms.
double processorTime() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

QString answer(qsizetype size) {
    QString text;
    for (int i = 0; text.size() < size; ++i)
        text += QStringLiteral(
                    "## Part %1\n\nSome *words* about `code` that fill a line or two of the window, with a "
                    "[link](https://example.com).\n\n- one\n- two\n\n```cpp\nfor (int i = 0; i < %1; ++i)\n    sum += "
                    "x[i];\n```\n\n")
                    .arg(i);
    return text;
}

void print(const char* what, std::vector<double> ms) {
    std::ranges::sort(ms);
    if (ms.empty()) return;
    std::printf("%-44s %5zu times, median %6.2f ms, p99 %6.2f ms, longest %6.2f ms\n", what, ms.size(),
                ms[ms.size() / 2], ms[ms.size() * 99 / 100], ms.back());
}

void streaming(MainWindow& window) {
    // Without the engine's thread in between: one piece a frame, as at 1000 tokens per second and 60 frames.
    ConversationModel messages;
    window.pane().view().setModel(&messages);
    messages.addUserMessage(QStringLiteral("Write a lot"));
    messages.beginReply(QStringLiteral("Fake"));
    std::vector<double> grown, all, late;
    const QString text = answer(32 * 1024);
    constexpr qsizetype frame = 64;
    for (qsizetype at = 0; at < text.size(); at += frame) {
        const double begin = processorTime();
        messages.append({{Channel::Answer, text.mid(at, frame)}}, 1);
        const double middle = processorTime();
        QCoreApplication::processEvents();
        QCoreApplication::sendPostedEvents();
        const double end = processorTime();
        grown.push_back(middle - begin);
        all.push_back(end - begin);
        if (at > 24 * 1024) late.push_back(end - begin);
    }
    print("a frame of a reply of 32 KB: text and layout", grown);
    print("  with painting", all);
    print("  the last 8 KB, with painting", late);
    window.pane().view().setModel(&window.chat().messages());
}

void opening(MainWindow& window) {
    std::vector<double> took;
    for (int round = 0; round < 5; ++round) {
        ConversationModel messages;
        for (int i = 0; i < 250; ++i) {
            messages.addUserMessage(QStringLiteral("Question %1").arg(i));
            messages.beginReply(QStringLiteral("Fake"));
            messages.append({{Channel::Answer, answer(2000)}}, 1);
            messages.endReply(MessageState::Complete, {}, {});
        }
        const double begin = processorTime();
        window.pane().view().setModel(&messages);
        QCoreApplication::processEvents();
        took.push_back(processorTime() - begin);
        window.pane().view().setModel(&window.chat().messages());
    }
    print("a chat of 500 messages, to its first paint", took);
}

void filtering(MainWindow& window, Store& store) {
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    for (qint64 id = 1; id <= 2000; ++id)
        store.save(ChatRecord{.id = id,
                              .title = QStringLiteral("Chat number %1").arg(id),
                              .created = now,
                              .updated = now - id * 40000000});
    QCoreApplication::processEvents();
    std::vector<double> took;
    for (const char* words : {"7", "77", "chat 5", "nothing at all", ""}) {
        const double begin = processorTime();
        window.chatList().searchLine().setText(QString::fromLatin1(words));
        QCoreApplication::processEvents();
        took.push_back(processorTime() - begin);
    }
    print("a list of 2000 chats filtered and painted", took);
}

}  // namespace

int main(int argc, char** argv) {
    QElapsedTimer since_start;
    since_start.start();
    QApplication app(argc, argv);
    QTemporaryDir folder;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
    Worker worker(std::make_unique<test::FakeEngine>(std::make_shared<test::Script>()));
    Store store(folder.filePath(QStringLiteral("chats.db")));
    test::FakeMachine machine;
    Library library(machine, folder.filePath(QStringLiteral("models.json")), {});
    AppContext context{.worker = worker, .store = store, .machine = machine, .library = library};
    MainWindow window(context);
    window.show();
    while (!window.windowHandle()->isExposed() || !store.isReady()) QCoreApplication::processEvents();
    std::printf("%-44s %lld ms\n", "from main() to a window that can be used", since_start.elapsed());
    window.resize(1080, 700);
    window.pane().view().parentWidget()->show();
    worker.load(QStringLiteral("/models/fake.gguf"));
    while (worker.busy()) QCoreApplication::processEvents();
    window.chat().send(QStringLiteral("so that messages are shown"));
    while (worker.busy()) QCoreApplication::processEvents();
    streaming(window);
    opening(window);
    filtering(window, store);
    const double begin = processorTime();
    QTimer::singleShot(2000, &app, &QApplication::quit);
    QApplication::exec();
    std::printf("%-44s %.2f ms of processor time\n", "two seconds of nothing", processorTime() - begin);
    return 0;
}
