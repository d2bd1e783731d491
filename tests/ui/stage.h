#pragma once

#include <QAction>
#include <QLabel>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/ui/fake_engine.h"
#include "tests/ui/fake_machine.h"
#include "ui/main_window.h"

namespace hearth::test {

/// A window over a scripted engine, with a model loaded.
struct Stage {
    std::shared_ptr<Script> script = std::make_shared<Script>();
    ui::Worker worker{std::make_unique<FakeEngine>(script)};
    QTemporaryDir own_folder;
    ui::Store store;
    FakeMachine machine;
    ui::Library library;
    ui::AppContext context{.worker = worker, .store = store, .machine = machine, .library = library};
    ui::MainWindow window{context};

    /// `folder`: of the chats; empty = a new one.
    explicit Stage(bool load = true, const QString& folder = {})
        : store((folder.isEmpty() ? own_folder.path() : folder) + QStringLiteral("/chats.db")),
          library(machine, (folder.isEmpty() ? own_folder.path() : folder) + QStringLiteral("/models.json"), {}) {
        window.show();
        (void)QTest::qWaitForWindowExposed(&window);
        if (load) {
            window.openModel(QStringLiteral("/models/fake.gguf"));
            (void)QTest::qWaitFor([this] { return worker.model().has_value() && !worker.busy(); });
        }
    }
    ui::InputBox& input() { return window.pane().input(); }
    ui::ChatView& view() { return window.pane().view(); }
    ui::ConversationModel& messages() { return window.chat().messages(); }
    void type(const QString& text) {
        QTest::keyClicks(&input(), text);
        QTest::keyClick(&input(), Qt::Key_Return);
    }
    bool idle() {
        return QTest::qWaitFor([this] { return !worker.busy(); }, 30000);
    }
    QString text(int row) { return messages().index(row).data(ui::ConversationModel::TextRole).toString(); }
    QAction* action(const char* name) { return window.findChild<QAction*>(QLatin1StringView(name)); }
    QString label(const char* name) { return window.findChild<QLabel*>(QLatin1StringView(name))->text(); }
    QPushButton* button() { return window.findChild<QPushButton*>(QStringLiteral("send_or_stop")); }
};

}  // namespace hearth::test
