#pragma once

#include <QList>
#include <QString>

namespace hearth::ui {

/// A stretch of Markdown that is rendered by itself.
struct MarkdownBlock {
    bool code = false;   ///< a fence that begins at the margin
    QString language;    ///< of a fence: its first word
    QString text;        ///< the source; of a fence what stands inside
    qsizetype begin = 0; ///< where its first line begins in the whole
    bool operator==(const MarkdownBlock&) const = default;
};

/// Cuts Markdown where the pieces look the same as the whole: before a line at the margin that follows a blank one, outside
/// fences, unless it goes on with a list (CommonMark 0.31, §5: a list ends only before something else at its margin).
/// So while a text grows only its last block changes.
QList<MarkdownBlock> splitMarkdown(QStringView source);
/// The same for a text that has grown, from `before`, which its first part gave: only the last two blocks are read again.
QList<MarkdownBlock> splitFurther(QStringView source, QList<MarkdownBlock> before);

}  // namespace hearth::ui
