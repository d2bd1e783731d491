#pragma once

#include <QString>

#include "ui/settings/settings.h"
#include "ui/store/store.h"
#include "ui/worker/worker.h"

namespace hearth::ui {

/// What windows share. Built once, by whoever starts the program, and handed to each window.
struct AppContext {
    Worker& worker;
    Store& store;
    Settings settings = {};
    QString starter_model = {};   ///< a path, or empty where it is not installed
};

}  // namespace hearth::ui
