#pragma once

#include <QString>

#include "engine/base/error.h"

namespace hearth::ui {

/// An error as sentences: what failed, why, and what can be done.
inline QString sentenceOf(const Error& error) {
    QString all =
        QStringLiteral("%1: %2.").arg(QString::fromStdString(error.whatFailed()), QString::fromStdString(error.why()));
    all[0] = all[0].toUpper();
    if (!error.nextStep().empty()) all += QStringLiteral(" %1.").arg(QString::fromStdString(error.nextStep()));
    return all;
}

}  // namespace hearth::ui
