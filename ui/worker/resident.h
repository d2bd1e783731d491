#pragma once

#include <QtGlobal>

namespace hearth::ui {

/// Bytes of this program that are in main memory now, as the system counts them, mapped files included; 0 where it does not tell.
quint64 residentBytes();

}  // namespace hearth::ui
