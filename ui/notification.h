#pragma once

#include <QString>

namespace hearth::ui {

/// Shows a note on the desktop, where there is a service for that (freedesktop.org notifications), without waiting for it.
void notify(const QString& title, const QString& text);

}  // namespace hearth::ui
