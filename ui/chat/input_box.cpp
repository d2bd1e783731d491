#include "ui/chat/input_box.h"

#include <QAbstractTextDocumentLayout>
#include <QInputMethodEvent>
#include <QMimeData>
#include <QTextBlock>
#include <QTextLayout>
#include <QUrl>
#include <algorithm>
#include <cmath>

namespace hearth::ui {
namespace {

constexpr qsizetype long_paste = 20 * 1024;   // characters

QStringList filesOf(const QMimeData* source) {
    QStringList paths;
    for (const QUrl& url : source->urls())
        if (url.isLocalFile()) paths << url.toLocalFile();
    return paths;
}

Qt::KeyboardModifiers modifierOf(SendKey key) {
    return key == SendKey::ShiftEnter     ? Qt::ShiftModifier
           : key == SendKey::ControlEnter ? Qt::ControlModifier
                                          : Qt::NoModifier;
}

}  // namespace

InputBox::InputBox(QWidget* parent) : QPlainTextEdit(parent) {
    setObjectName(QStringLiteral("input"));
    setAccessibleName(tr("Your message"));
    setPlaceholderText(tr("Write a message …"));
    setTabChangesFocus(true);
    document()->setDocumentMargin(std::round(QFontMetricsF(font()).lineSpacing() * 0.45));
    connect(document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this, &InputBox::fit);
    fit();
}

void InputBox::setMaximumGrowth(int pixels) {
    most_ = pixels;
    fit();
}

void InputBox::fit() {
    const double lines =
        document()->documentLayout()->documentSize().height();   // a plain text's height is told in lines
    const double text = std::max(lines, 1.0) * QFontMetricsF(font()).lineSpacing() + 2 * document()->documentMargin();
    const int wanted = static_cast<int>(std::ceil(text)) + 2 * frameWidth() + 2;
    setFixedHeight(std::min(wanted, most_));
    setVerticalScrollBarPolicy(wanted > most_ ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
}

void InputBox::keyPressEvent(QKeyEvent* event) {
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    const bool composing = composing_ || !textCursor().block().layout()->preeditAreaText().isEmpty();
    if (enter && composing) return event->ignore();
    if (enter) {
        // The key pad is a modifier too, and means the same Enter.
        if ((event->modifiers() & ~Qt::KeypadModifier) == modifierOf(send_key_)) Q_EMIT sendRequested();
        else insertPlainText(QStringLiteral("\n"));
        ensureCursorVisible();
        return event->accept();
    }
    if (event->key() == Qt::Key_Up && event->modifiers() == Qt::NoModifier && document()->isEmpty()) {
        Q_EMIT editLastRequested();
        return event->accept();
    }
    QPlainTextEdit::keyPressEvent(event);
}

void InputBox::inputMethodEvent(QInputMethodEvent* event) {
    composing_ = !event->preeditString().isEmpty();
    QPlainTextEdit::inputMethodEvent(event);
}

void InputBox::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    fit();
}

void InputBox::changeEvent(QEvent* event) {
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange) fit();
}

bool InputBox::canInsertFromMimeData(const QMimeData* source) const {
    return !filesOf(source).isEmpty() || QPlainTextEdit::canInsertFromMimeData(source);
}

void InputBox::insertFromMimeData(const QMimeData* source) {
    if (const QStringList paths = filesOf(source); !paths.isEmpty()) Q_EMIT filesDropped(paths);
    else if (source->text().size() > long_paste) Q_EMIT longTextPasted(source->text());
    else QPlainTextEdit::insertFromMimeData(source);
}

}  // namespace hearth::ui
