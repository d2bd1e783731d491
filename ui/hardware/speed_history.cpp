#include "ui/hardware/speed_history.h"

#include <algorithm>

namespace hearth::ui {

void SpeedHistory::push(double now_s, unsigned tokens) {
    if (!running_ || tokens < last_.tokens || now_s < last_.time) {
        running_ = tokens > 0;
        last_ = {now_s, tokens};
        second_[0] = last_;
        marks_ = 1;
        now_ = 0;
        return;
    }
    if (now_s - last_.time < interval_s) return;
    const double passed = now_s - last_.time, written = tokens - last_.tokens;
    seconds_ += passed;
    tokens_ += written;
    const Mark& begin = second_[0];
    now_ = now_s > begin.time ? (tokens - begin.tokens) / (now_s - begin.time) : 0;
    if (marks_ == second_.size()) peak_ = std::max(peak_, now_);
    add(written / passed);
    last_ = {now_s, tokens};
    if (marks_ == second_.size()) std::shift_left(second_.begin(), second_.end(), 1);
    else ++marks_;
    second_[marks_ - 1] = last_;
}

void SpeedHistory::add(double speed) {
    bars_[(first_ + size_) % capacity] = speed;
    if (size_ < capacity) ++size_;
    else first_ = (first_ + 1) % capacity;
}

}  // namespace hearth::ui
