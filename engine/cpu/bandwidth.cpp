#include "engine/cpu/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "engine/base/error.h"

namespace hearth::cpu {
namespace {

constexpr size_t kPiece = 1 << 20;

/// Exclusive or of a piece: as little arithmetic as keeps the reads.
uint64_t readPiece(const uint64_t* p) {
    uint64_t a[16] = {};
    for (size_t i = 0; i < kPiece / sizeof(uint64_t); i += 16)
        for (size_t j = 0; j < 16; ++j) a[j] ^= p[i + j];
    uint64_t all = 0;
    for (const uint64_t v : a) all ^= v;
    return all;
}

}  // namespace

size_t lastLevelCache() {
    size_t largest = 0;
    for (int index = 0; index < 8; ++index) {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
        size_t size = 0;
        char unit = 0;
        if (!(file >> size)) continue;
        file >> unit;
        largest = std::max(largest, unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size);
    }
    return largest != 0 ? largest : size_t{32} << 20;
}

double readBandwidth(ThreadPool& pool, int reads) {
    const size_t pieces = 4 * lastLevelCache() / kPiece + 1, words = kPiece / sizeof(uint64_t);
    std::unique_ptr<uint64_t[]> buffer(new (std::nothrow) uint64_t[pieces * words]);
    if (!buffer)
        throw Error("cannot measure the memory's bandwidth", "there is no room for a buffer of " + std::to_string(pieces) + " MiB",
                    "close other programs and try again");
    pool.run(pieces, [&](size_t piece) { std::memset(buffer.get() + piece * words, static_cast<int>(piece), kPiece); });
    std::atomic<uint64_t> seen = 0;
    double best = 0;
    for (int i = 0; i < std::max(5, reads); ++i) {
        const auto start = std::chrono::steady_clock::now();
        pool.run(pieces, [&](size_t piece) { seen.fetch_xor(readPiece(buffer.get() + piece * words), std::memory_order_relaxed); });
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        best = std::max(best, static_cast<double>(pieces * kPiece) / seconds);
    }
    return best;
}

}  // namespace hearth::cpu
