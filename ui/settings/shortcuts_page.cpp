#include "ui/settings/shortcuts_page.h"

#include <QFormLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace hearth::ui {
namespace {

const char* const first_keys = "keys_it_came_with";

QKeySequence ownKeys(const QAction& action) { return action.property(first_keys).value<QKeySequence>(); }

}  // namespace

ShortcutsPage::ShortcutsPage(const QList<QAction*>& actions, QWidget* parent)
    : QWidget(parent), clash_(new QLabel) {
    auto* inside = new QWidget;
    auto* form = new QFormLayout(inside);
    for (QAction* action : actions) {
        const QString name = action->text().remove(u'&');
        auto* keys = new QKeySequenceEdit(action->shortcut());
        keys->setObjectName(QStringLiteral("keys_") + action->objectName());
        keys->setAccessibleName(name);
        keys->setMaximumSequenceLength(1);
        keys->setClearButtonEnabled(true);
        form->addRow(name, keys);
        rows_.push_back({action, keys});
        connect(keys, &QKeySequenceEdit::keySequenceChanged, this, &ShortcutsPage::check);
    }
    auto* scroll = new QScrollArea;
    scroll->setWidget(inside);
    scroll->setWidgetResizable(true);
    auto* back = new QPushButton(tr("As they &were at first"));
    connect(back, &QPushButton::clicked, this, [this] {
        for (const Row& row : rows_) row.keys->setKeySequence(ownKeys(*row.action));
    });
    clash_->setObjectName(QStringLiteral("clash"));
    clash_->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->addWidget(scroll, 1);
    column->addWidget(clash_);
    column->addWidget(back, 0, Qt::AlignLeft);
    check();
}

void ShortcutsPage::check() {
    QHash<QString, QString> seen;
    QStringList clashes;
    for (const Row& row : rows_) {
        const QString keys = row.keys->keySequence().toString(QKeySequence::NativeText);
        if (keys.isEmpty()) continue;
        const QString name = row.action->text().remove(u'&');
        if (seen.contains(keys)) clashes << tr("%1 is used twice: %2 and %3.").arg(keys, seen[keys], name);
        seen.insert(keys, name);
    }
    clash_->setText(clashes.join(u' '));
    clash_->setVisible(!clashes.isEmpty());
}

void ShortcutsPage::apply(Settings& settings) {
    for (const Row& row : rows_) {
        const QKeySequence keys = row.keys->keySequence();
        if (keys == row.action->shortcut()) continue;
        row.action->setShortcut(keys);
        settings.setShortcut(row.action->objectName(),
                             keys == ownKeys(*row.action) ? std::nullopt : std::optional(keys));
    }
}

void ShortcutsPage::restore(const QList<QAction*>& actions, const Settings& settings) {
    for (QAction* action : actions) {
        action->setProperty(first_keys, action->shortcut());
        if (const auto keys = settings.shortcut(action->objectName())) action->setShortcut(*keys);
    }
}

}  // namespace hearth::ui
