#pragma once

#include <QString>

#include "ui/library/library.h"
#include "ui/settings/settings.h"
#include "ui/store/store.h"
#include "ui/worker/worker.h"

namespace hearth::ui {

/// What windows share. Built once, by whoever starts the program, and handed to each window.
struct AppContext {
    Worker& worker;
    Store& store;
    Machine& machine;
    Library& library;
    Settings settings = {};
    QString starter_model = {};   ///< a path, or empty where it is not installed
};

}  // namespace hearth::ui
