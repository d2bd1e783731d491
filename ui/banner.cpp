#include "ui/banner.h"

#include <QHBoxLayout>
#include <QStyle>

namespace hearth::ui {

Banner::Banner(QWidget* parent)
    : QFrame(parent), label_(new QLabel), action_(new QPushButton), close_(new QPushButton(tr("Close"))) {
    setObjectName(QStringLiteral("banner"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    label_->setForegroundRole(QPalette::ToolTipText);
    label_->setWordWrap(true);
    label_->setTextFormat(Qt::PlainText);
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label_->setAccessibleName(tr("Notice"));
    auto* icon = new QLabel;
    const int size = style()->pixelMetric(QStyle::PM_SmallIconSize);
    icon->setPixmap(style()->standardIcon(QStyle::SP_MessageBoxWarning).pixmap(size, size));
    auto* row = new QHBoxLayout(this);
    row->addWidget(icon);
    row->addWidget(label_, 1);
    row->addWidget(action_);
    row->addWidget(close_);
    connect(close_, &QPushButton::clicked, this, &QWidget::hide);
    connect(action_, &QPushButton::clicked, this, [this] {
        hide();
        if (act_) act_();
    });
    hide();
}

void Banner::say(const QString& sentence, const QString& action, const std::function<void()>& act) {
    label_->setText(sentence);
    act_ = act;
    action_->setText(action);
    action_->setVisible(!action.isEmpty());
    show();
}

}  // namespace hearth::ui
