#pragma once

#include <QList>
#include <QString>

namespace hearth::ui {

/// A stretch of Markdown that is rendered by itself.
struct MarkdownBlock {
    bool code = false;   ///< a fence that begins at the margin
    QString language;    ///< of a fence: its first word
    QString text;        ///< the source; of a fence what stands inside
    bool operator==(const MarkdownBlock&) const = default;
};

/// Cuts Markdown where the pieces look the same as the whole: before a line at the margin that follows a blank one, outside
/// fences, unless it goes on with a list (CommonMark 0.31, §5: a list ends only before something else at its margin).
/// So while a text grows only its last block changes.
QList<MarkdownBlock> splitMarkdown(QStringView source);

}  // namespace hearth::ui
