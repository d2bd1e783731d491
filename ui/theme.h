#pragma once

namespace hearth::ui {

enum class Theme { System, Light, Dark };

/// Colours of the whole program. Where the platform cannot change its own, a palette of ours stands in.
void applyTheme(Theme theme);

}  // namespace hearth::ui
