#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/products.h"

namespace hearth::cpu {
namespace {

/// Rows of a piece: enough to fill the lanes of every level, few enough to spread a short list over the threads.
constexpr size_t kListedRows = 16;

/// The listed rows, copied side by side into memory that the thread keeps, so that the ordinary kernel takes them: the copy
/// stays in the cache, and a row gives the bits that it gives in its place.
struct Packed {
    std::vector<std::byte> rows;
    float out[kListedRows];
};

}  // namespace

void multiplyRows(const Kernels& kernels, ThreadPool& pool, const Weight& weight, Activations& x, std::span<const uint32_t> rows, float* out) {
    if (x.values().rows != 1 || x.values().cols != weight.cols) throw std::logic_error("cpu::multiplyRows: shapes do not match");
    const size_t pieces = (rows.size() + kListedRows - 1) / kListedRows;
    if (pieces == 0) return;
    const Product whole{weight, &x, 0, 1, {out, 1, weight.rows}};
    roundActivations(kernels, pool, {&whole, 1});
    pool.run(pieces, [&](size_t piece) {
        thread_local Packed packed;
        const std::span<const uint32_t> list = rows.subspan(piece * kListedRows, std::min(kListedRows, rows.size() - piece * kListedRows));
        packed.rows.resize(kListedRows * weight.row_bytes);
        for (size_t i = 0; i < list.size(); ++i)
            std::memcpy(packed.rows.data() + i * weight.row_bytes, weight.data + list[i] * weight.row_bytes, weight.row_bytes);
        multiplyAlone(kernels, {{weight.type, packed.rows.data(), list.size(), weight.cols, weight.row_bytes}, &x, 0, 1, {packed.out, 1, kListedRows}});
        for (size_t i = 0; i < list.size(); ++i) out[list[i]] = packed.out[i];
    });
}

void multiplyRows(ThreadPool& pool, const Weight& weight, Activations& x, std::span<const uint32_t> rows, float* out) {
    multiplyRows(activeKernels(), pool, weight, x, rows, out);
}

}  // namespace hearth::cpu
