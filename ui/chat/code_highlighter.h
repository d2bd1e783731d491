#pragma once

#include <QPalette>
#include <QSyntaxHighlighter>
#include <memory>

namespace hearth::ui {

/// Reads in the background which languages there are, so that the first block of code need not wait for it.
void prepareHighlighting();

/// Colours the code of `document` as long as it lives, in the language that a fence names ("cpp", "c++", "sh" …), for the
/// palette's ground. Null where the language is not known, or where the program was built without KDE's SyntaxHighlighting.
std::unique_ptr<QSyntaxHighlighter> highlighterFor(QTextDocument& document, const QString& language,
                                                   const QPalette& palette);
/// The ending of a file in that language, without the dot; "txt" where it is not known.
QString fileEndingOf(const QString& language);

}  // namespace hearth::ui
