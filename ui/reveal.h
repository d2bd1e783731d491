#pragma once

#include <QString>

namespace hearth::ui {

/// Shows a file in the file manager, chosen where that can be asked for, else its folder.
void reveal(const QString& path);

}  // namespace hearth::ui
