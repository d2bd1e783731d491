#include "ui/theme.h"

#include <QApplication>
#include <QPalette>
#include <QStyle>
#include <QStyleHints>

namespace hearth::ui {
namespace {

QPalette darkPalette() {
    const QColor window(0x26, 0x25, 0x24), base(0x1e, 0x1d, 0x1c), text(0xea, 0xe6, 0xe1), dim(0x85, 0x80, 0x7b),
        accent(0xd9, 0x77, 0x2b);
    QPalette palette(text, window.lighter(130), window.lighter(170), window.darker(160), dim, text, base);
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::AlternateBase, window);
    palette.setColor(QPalette::ToolTipBase, QColor(0x4a, 0x3a, 0x2a));
    palette.setColor(QPalette::ToolTipText, text);
    palette.setColor(QPalette::PlaceholderText, dim);
    palette.setColor(QPalette::Highlight, accent.darker(130));
    palette.setColor(QPalette::HighlightedText, Qt::white);
    palette.setColor(QPalette::Link, QColor(0xf0, 0xa0, 0x60));
    palette.setColor(QPalette::LinkVisited, QColor(0xd0, 0x98, 0xc0));
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, dim);
    return palette;
}

}  // namespace

void applyTheme(Theme theme) {
#if QT_VERSION >= QT_VERSION_CHECK(6, 8, 0)
    QStyleHints& hints = *QGuiApplication::styleHints();
    const Qt::ColorScheme wanted = theme == Theme::Dark    ? Qt::ColorScheme::Dark
                                   : theme == Theme::Light ? Qt::ColorScheme::Light
                                                           : Qt::ColorScheme::Unknown;
    hints.setColorScheme(wanted);
    if (theme == Theme::System || hints.colorScheme() == wanted) return QApplication::setPalette(QPalette());
#endif
    if (theme == Theme::System) QApplication::setPalette(QPalette());
    else QApplication::setPalette(theme == Theme::Dark ? darkPalette() : QApplication::style()->standardPalette());
}

}  // namespace hearth::ui
