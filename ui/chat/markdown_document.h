#pragma once

#include <QTextDocument>

namespace hearth::ui {

/// A document to be shown, never edited, whose text comes from a model: nothing it names is read from disk or net.
class MarkdownDocument : public QTextDocument {
    Q_OBJECT

public:
    explicit MarkdownDocument(QObject* parent = nullptr);

    /// HTML stays text, an image becomes its address, tables get lines, inline code a ground.
    void setSource(const QString& markdown, const QPalette& palette);
    /// Plain, in the fixed-pitch font.
    void setCode(const QString& code);
    /// Adds to what setCode() or setPlainText() gave.
    /// Whether long lines are broken; of code.
    void setWraps(bool wraps);
    void append(const QString& text);

protected:
    QVariant loadResource(int type, const QUrl& name) override;

private:
    void replaceImages();
    void dressTables(const QPalette& palette);
    void dressFragments(const QPalette& palette);
};

/// `palette`'s base moved a little towards its text: grounds and lines that fit light and dark themes.
QColor blended(const QPalette& palette, double towards_text);

}  // namespace hearth::ui
