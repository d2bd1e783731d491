#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/products.h"
#include "engine/cpu/ranges.h"

namespace hearth::cpu {

void Activations::set(MatrixView<const float> x, float fine_from) {
    x_ = x;
    fine_from_ = fine_from;
    rounded_ = false;
}

namespace {

/// Weights that a piece reads when there is one token: some microseconds of work.
constexpr size_t kPieceBytes = 32 << 10;
constexpr size_t kRowsMultiple = 16;
/// Activations that are rounded, or bytes of weights times tokens, that the calling thread takes alone: waking others would
/// take longer.
constexpr size_t kAlone = 32 << 10;

struct alignas(64) Line {
    unsigned char bytes[64];
};

unsigned char* threadScratch(size_t bytes) {
    thread_local std::vector<Line> lines;
    const size_t needed = bytes / sizeof(Line) + 1;
    if (lines.size() < needed) lines.resize(needed);
    return lines.data()->bytes;
}

/// A product of the list, as the kernels take it.
struct Task {
    ProductKernel kernel;
    ProductJob job;
    size_t piece_rows, first_piece;
    std::vector<uint8_t> padded;  // a weight of fewer rows than the level has lanes, with rows of zeros
};

Task makeTask(const Kernels& kernels, const Product& product) {
    const Weight& weight = product.weight;
    const MatrixView<const float> x = product.x->values();
    Task task{kernels.products->product(weight.type), {}, 0, 0, {}};
    if (task.kernel == nullptr)
        throw Error("cannot multiply with a weight of type " + std::string(gguf::typeInfo(weight.type).name),
                    "Hearth has no matrix product for this type", "use a file whose weights have another type");
    ProductJob& job = task.job;
    job.tokens = product.n != 0 ? product.n : x.rows - product.first;
    if (x.cols != weight.cols || product.first + job.tokens > x.rows || product.out.rows < job.tokens || product.out.cols < weight.rows)
        throw std::logic_error("cpu::multiply: shapes do not match");
    job.weight = reinterpret_cast<const uint8_t*>(weight.data);
    job.row_bytes = weight.row_bytes;
    job.rows = weight.rows;
    job.cols = weight.cols;
    if (job.rows < kernels.products->lanes) {
        task.padded.resize(kernels.products->lanes * job.row_bytes);
        std::memcpy(task.padded.data(), job.weight, job.rows * job.row_bytes);
        job.weight = task.padded.data();
        job.rows = kernels.products->lanes;
    }
    job.x = x.data + product.first * x.stride;
    job.x_stride = x.stride;
    job.rounded_stride = x.cols / kXBlock;
    if (!isFloat(weight.type)) job.rounded = ActivationsAccess::blocks(*product.x).data() + product.first * job.rounded_stride;
    job.out = product.out.data;
    job.out_stride = product.out.stride;
    const size_t rows = kPieceBytes / std::max<size_t>(1, weight.row_bytes) / kRowsMultiple * kRowsMultiple;
    task.piece_rows = std::max(rows, kRowsMultiple);
    return task;
}

}  // namespace

void roundActivations(const Kernels& kernels, ThreadPool& pool, std::span<const Product> products) {
    struct Row { Activations* x; size_t row; };
    std::vector<Row> rows;
    size_t values = 0;
    for (const Product& product : products) {
        Activations& x = *product.x;
        if (isFloat(product.weight.type) || ActivationsAccess::rounded(x)) continue;
        ActivationsAccess::rounded(x) = true;
        const MatrixView<const float> view = x.values();
        const size_t needed = 2 * view.rows * (view.cols / kXBlock);  // the second half for low codes
        if (ActivationsAccess::blocks(x).size() < needed) ActivationsAccess::blocks(x).resize(needed);
        for (size_t row = 0; row < view.rows; ++row) rows.push_back({&x, row});
        values += view.rows * view.cols;
    }
    const auto round = [&](size_t i) {
        const MatrixView<const float> view = rows[i].x->values();
        XBlock* blocks = ActivationsAccess::blocks(*rows[i].x).data() + rows[i].row * (view.cols / kXBlock);
        kernels.products->roundRow(view.row(rows[i].row), view.cols, ActivationsAccess::fineFrom(*rows[i].x), blocks,
                                   view.rows * (view.cols / kXBlock));
    };
    if (values <= kAlone) {
        for (size_t i = 0; i < rows.size(); ++i) round(i);
    } else {
        pool.run(rows.size(), round);
    }
}

void roundActivations(const Kernels& kernels, ThreadPool& pool, const Weight& weight, Activations& x) {
    const Product product{weight, &x, 0, 0, {}};
    roundActivations(kernels, pool, {&product, 1});
}

void multiply(const Kernels& kernels, ThreadPool& pool, std::span<const Product> products) {
    roundActivations(kernels, pool, products);
    std::vector<Task> tasks;
    tasks.reserve(products.size());
    size_t pieces = 0;
    for (const Product& product : products) {
        if (product.weight.rows == 0) continue;
        Task task = makeTask(kernels, product);
        if (task.job.tokens == 0) continue;
        task.first_piece = pieces;
        pieces += (product.weight.rows + task.piece_rows - 1) / task.piece_rows;
        task.job.end = product.weight.rows;
        tasks.push_back(std::move(task));
    }
    const auto compute = [&](size_t piece, size_t end) {
        const Task& task = *(std::ranges::upper_bound(tasks, piece, {}, &Task::first_piece) - 1);
        ProductJob job = task.job;
        const size_t rows = job.end;
        job.begin = (piece - task.first_piece) * task.piece_rows;
        job.end = std::min(rows, job.begin + task.piece_rows);
        job.ahead = std::min(rows, (end - task.first_piece) * task.piece_rows);
        job.scratch = threadScratch(kernels.products->scratch(job.tokens, job.cols));
        task.kernel(job);
    };
    size_t work = 0;
    for (const Task& task : tasks) work += task.job.end * task.job.row_bytes * task.job.tokens;
    if (work <= kAlone) {
        for (size_t piece = 0; piece < pieces; ++piece) compute(piece, pieces);
        return;
    }
    Ranges ranges(pieces, pool.threads());
    pool.run(pieces, [&](size_t, unsigned thread) {
        const auto [piece, end] = ranges.take(thread);
        compute(piece, end);
    });
}

void multiply(ThreadPool& pool, std::span<const Product> products) { multiply(activeKernels(), pool, products); }

}  // namespace hearth::cpu
