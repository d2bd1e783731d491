#include "ui/chat/markdown_document.h"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <QImage>
#include <QPalette>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextTable>
#include <QUrl>

#include "ui/chat/maths.h"

namespace hearth::ui {
namespace {

QFont codeFont(const QFont& text) {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    if (text.pointSizeF() > 0) font.setPointSizeF(text.pointSizeF() * 0.95);
    return font;
}

struct Stretch {
    int begin, end;
    QTextCharFormat format;
};

QList<Stretch> stretches(const QTextDocument& document) {
    QList<Stretch> all;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it)
            all.push_back({it.fragment().position(), it.fragment().position() + it.fragment().length(),
                           it.fragment().charFormat()});
    return all;
}

}  // namespace

QColor blended(const QPalette& palette, double towards_text) {
    const QColor base = palette.color(QPalette::Base), text = palette.color(QPalette::Text);
    const auto mix = [&](int a, int b) { return static_cast<int>(a + (b - a) * towards_text); };
    return {mix(base.red(), text.red()), mix(base.green(), text.green()), mix(base.blue(), text.blue())};
}

MarkdownDocument::MarkdownDocument(QObject* parent) : QTextDocument(parent) {
    setUndoRedoEnabled(false);
    setDocumentMargin(0);
}

QVariant MarkdownDocument::loadResource(int, const QUrl&) {
    // An empty answer would make Qt look for a file of that name.
    static const QImage nothing = [] {
        QImage image(1, 1, QImage::Format_ARGB32);
        image.fill(Qt::transparent);
        return image;
    }();
    return nothing;
}

void MarkdownDocument::setSource(const QString& markdown, const QPalette& palette) {
    // A line end in front, for lines of --- at the very beginning would be taken for data about the document and vanish.
    // An image without words would vanish too; a space of no width keeps it, and goes again where this was no image.
    const QString empty = QStringLiteral("![]("), kept = QStringLiteral("![\u200b](");
    QString source = QLatin1Char('\n') + readableMaths(markdown);
    setMarkdown(source.replace(empty, kept), MarkdownFeatures(MarkdownDialectGitHub) | MarkdownNoHTML);
    for (QTextCursor found = find(kept); !found.isNull(); found = find(kept, found))
        found.insertText(empty, found.charFormat());
    replaceImages();
    dressTables(palette);
    dressFragments(palette);
}

void MarkdownDocument::replaceImages() {
    const QList<Stretch> all = stretches(*this);
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
        if (!it->format.isImageFormat()) continue;
        QTextCursor cursor(this);
        cursor.setPosition(it->begin);
        cursor.setPosition(it->end, QTextCursor::KeepAnchor);
        const QTextImageFormat image = it->format.toImageFormat();
        const QString words = image.property(QTextFormat::ImageAltText).toString().remove(QChar(0x200b));
        cursor.insertText(
            words.isEmpty() ? tr("[image: %1]").arg(image.name()) : tr("[image: %1, %2]").arg(words, image.name()),
            QTextCharFormat());
    }
}

void MarkdownDocument::dressTables(const QPalette& palette) {
    for (QTextFrame* frame : rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (table == nullptr) continue;
        QTextTableFormat format = table->format();
        format.setBorder(1);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderBrush(blended(palette, 0.25));
        format.setBorderCollapse(true);
        format.setCellPadding(4);
        format.setTopMargin(4);
        format.setBottomMargin(4);
        format.setCellSpacing(0);
        table->setFormat(format);
        // Of a table whose borders collapse, only those of its cells are drawn.
        for (int row = 0; row < table->rows(); ++row)
            for (int column = 0; column < table->columns(); ++column) {
                QTextTableCell cell = table->cellAt(row, column);
                QTextTableCellFormat lines = cell.format().toTableCellFormat();
                lines.setBorder(1);
                lines.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
                lines.setBorderBrush(blended(palette, 0.25));
                cell.setFormat(lines);
            }
    }
}

void MarkdownDocument::dressFragments(const QPalette& palette) {
    for (const Stretch& s : stretches(*this)) {
        QTextCharFormat format;
        if (s.format.fontFixedPitch() && !s.format.isAnchor()) {
            const QFont font = codeFont(defaultFont());
            format.setFontFamilies({font.family()});
            format.setBackground(blended(palette, 0.08));
        } else if (s.format.isAnchor()) {
            format.setForeground(palette.color(QPalette::Link));
        } else {
            continue;
        }
        QTextCursor cursor(this);
        cursor.setPosition(s.begin);
        cursor.setPosition(s.end, QTextCursor::KeepAnchor);
        cursor.mergeCharFormat(format);
    }
}

void MarkdownDocument::setCode(const QString& code) {
    setDefaultFont(codeFont(defaultFont()));
    QTextOption option = defaultTextOption();
    option.setTextDirection(Qt::LeftToRight);
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    option.setTabStopDistance(4 * QFontMetricsF(defaultFont()).horizontalAdvance(u' '));
    setDefaultTextOption(option);
    setPlainText(code);
}

void MarkdownDocument::setWraps(bool wraps) {
    QTextOption option = defaultTextOption();
    const auto mode = wraps ? QTextOption::WrapAtWordBoundaryOrAnywhere : QTextOption::NoWrap;
    if (option.wrapMode() == mode) return;
    option.setWrapMode(mode);
    setDefaultTextOption(option);
}

void MarkdownDocument::append(const QString& text) {
    QTextCursor cursor(this);
    cursor.movePosition(QTextCursor::End);
    cursor.insertText(text);
}

}  // namespace hearth::ui
