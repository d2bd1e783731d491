#pragma once

#include <array>
#include <cstddef>

namespace hearth::ui {

/// Tokens per second of the last minute, and what became of all of them. Time is the caller's, in seconds.
class SpeedHistory {
public:
    static constexpr size_t capacity = 240;
    static constexpr double interval_s = 0.25;   ///< of one bar

    /// `tokens`: written since the reply began. A smaller number begins a new reply.
    void push(double now_s, unsigned tokens);

    double now() const { return now_; }          ///< of the last second
    double average() const { return seconds_ > 0 ? tokens_ / seconds_ : 0; }   ///< of all replies
    double peak() const { return peak_; }        ///< the fastest second
    size_t size() const { return size_; }
    /// Of bar `i`, the oldest first.
    double at(size_t i) const { return bars_[(first_ + i) % capacity]; }

private:
    void add(double speed);

    std::array<double, capacity> bars_{};
    size_t first_ = 0, size_ = 0;
    struct Mark {
        double time = 0;
        unsigned tokens = 0;
    };
    std::array<Mark, 4> second_{};   ///< bars of the last second
    size_t marks_ = 0;
    Mark last_;
    bool running_ = false;
    double now_ = 0, peak_ = 0, tokens_ = 0, seconds_ = 0;
};

}  // namespace hearth::ui
