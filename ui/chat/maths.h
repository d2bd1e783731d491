#pragma once

#include <QString>

namespace hearth::ui {

/// Markdown with its formulas made readable: what stands between \( \), \[ \], $$ $$ and, by pandoc's rule, $ $ becomes
/// Unicode text ("x² ≤ α/2"), protected from being read as Markdown. Commands that have no character stay as written. Code is
/// left alone.
QString readableMaths(const QString& markdown);
/// The same for one formula, without its marks.
QString unicodeOf(QStringView formula);

}  // namespace hearth::ui
