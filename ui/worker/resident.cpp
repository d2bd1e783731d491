#include "ui/worker/resident.h"

#include <unistd.h>

#include <cstdio>

namespace hearth::ui {

quint64 residentBytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    unsigned long long all = 0, resident = 0;   // pages
    const bool read = std::fscanf(file, "%llu %llu", &all, &resident) == 2;
    std::fclose(file);
    return read ? resident * static_cast<quint64>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace hearth::ui
