#include <algorithm>
#include <stdexcept>

#include "engine/base/error.h"
#include "engine/cpu/products.h"
#include "engine/cpu/ranges.h"

namespace hearth::cpu {

ListedJob listedJob(const Weight& weight, Activations& x, size_t x_row) {
    const MatrixView<const float> values = x.values();
    ListedJob job;
    job.weight = reinterpret_cast<const uint8_t*>(weight.data);
    job.row_bytes = weight.row_bytes;
    job.cols = weight.cols;
    job.x = values.row(x_row);
    if (!isFloat(weight.type)) job.rounded = ActivationsAccess::blocks(x).data() + x_row * (values.cols / kXBlock);
    return job;
}

ListedKernel listedKernel(const Kernels& kernels, gguf::Type type) {
    const ListedKernel kernel = kernels.products->listed(type);
    if (kernel == nullptr)
        throw Error("cannot multiply with a weight of type " + std::string(gguf::typeInfo(type).name),
                    "Hearth has no matrix product for this type", "use a file whose weights have another type");
    return kernel;
}

void multiplyRows(const Kernels& kernels, ThreadPool& pool, const Weight& weight, Activations& x,
                  std::span<const uint32_t> rows, float* out) {
    if (x.values().rows != 1 || x.values().cols != weight.cols)
        throw std::logic_error("cpu::multiplyRows: shapes do not match");
    const size_t pieces = (rows.size() + kListedRows - 1) / kListedRows;
    if (pieces == 0) return;
    const ListedKernel kernel = listedKernel(kernels, weight.type);
    roundActivations(kernels, pool, weight, x);
    const ListedJob all = listedJob(weight, x);
    Ranges ranges(pieces, pool.threads());
    pool.run(pieces, [&](size_t, unsigned thread) {
        const size_t first = ranges.take(thread).piece * kListedRows;
        ListedJob job = all;
        float values[kListedRows];
        job.rows = rows.data() + first;
        job.count = std::min(kListedRows, rows.size() - first);
        job.out = values;
        job.ahead = {job.weight, job.row_bytes, job.rows + job.count,
                     std::min(kListedRows, rows.size() - first - job.count)};
        kernel(job);
        for (size_t i = 0; i < job.count; ++i) out[job.rows[i]] = values[i];
    });
}

void multiplyRows(ThreadPool& pool, const Weight& weight, Activations& x, std::span<const uint32_t> rows, float* out) {
    multiplyRows(activeKernels(), pool, weight, x, rows, out);
}

}  // namespace hearth::cpu
