#pragma once

#include <cstdint>
#include <random>

namespace hearth::sampling {

/// Random numbers that are the same everywhere: std::mt19937_64 is fixed by the language standard to the bit, the
/// distributions of the standard library are not, so the step to a double is ours.
class Random {
public:
    explicit Random(uint64_t seed = 0) : engine_(seed) {}
    void seed(uint64_t value) { engine_.seed(value); }
    /// Uniform in [0, 1), a multiple of 2^-53.
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

private:
    std::mt19937_64 engine_;
};

}  // namespace hearth::sampling
