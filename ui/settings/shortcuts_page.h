#pragma once

#include <QAction>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QWidget>
#include <vector>

#include "ui/settings/settings.h"

namespace hearth::ui {

/// The keys of all actions, to be changed.
class ShortcutsPage : public QWidget {
    Q_OBJECT

public:
    ShortcutsPage(const QList<QAction*>& actions, QWidget* parent = nullptr);

    /// Gives the actions their keys and remembers those that differ from what the program came with.
    void apply(Settings& settings);
    /// Gives the actions what was remembered; to be called once, before anything else changes their keys.
    static void restore(const QList<QAction*>& actions, const Settings& settings);

private:
    void check();

    struct Row {
        QAction* action;
        QKeySequenceEdit* keys;
    };
    std::vector<Row> rows_;
    QLabel* clash_;
};

}  // namespace hearth::ui
