#pragma once

#include <QString>

namespace hearth::ui {

/// The text of a file that is to go into a prompt: UTF-8, at most 4 MiB. From any thread. Throws Error: no text, too large.
QString readTextFile(const QString& path);

}  // namespace hearth::ui
