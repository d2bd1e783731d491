#include "ui/store/records.h"

#include <QDateTime>
#include <algorithm>
#include <atomic>

namespace hearth::ui {

qint64 newId() {
    static std::atomic<qint64> last = 0;
    qint64 before = last, next = 0;
    do next = std::max(before + 1, QDateTime::currentMSecsSinceEpoch() * 1000);
    while (!last.compare_exchange_weak(before, next));
    return next;
}

}  // namespace hearth::ui
