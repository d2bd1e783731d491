#include "engine/cpu/ops.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/kernels.h"

namespace hearth::cpu {
namespace {

const Ops& ops() { return *activeKernels().ops; }

}  // namespace

void rmsNorm(const float* x, const float* weight, float* out, size_t n, float eps) { ops().rmsNorm(x, weight, out, n, eps); }
void layerNorm(const float* x, const float* weight, const float* bias, float* out, size_t n, float eps) {
    ops().layerNorm(x, weight, bias, out, n, eps);
}
void softmax(float* x, size_t n) { ops().softmax(x, n); }
void add(float* x, const float* y, size_t n) { ops().add(x, y, n); }
void multiply(float* x, const float* y, size_t n) { ops().multiply(x, y, n); }
void scale(float* x, float a, size_t n) { ops().scale(x, a, n); }
void axpy(float a, const float* x, float* y, size_t n) { ops().axpy(a, x, y, n); }
float dot(const float* x, const float* y, size_t n) { return ops().dot(x, y, n); }
void softcap(float* x, float cap, size_t n) { ops().softcap(x, cap, n); }
void activate(Activation activation, const float* gate, const float* up, float* out, size_t n) {
    ops().activate(activation, gate, up, out, n);
}
size_t listPositive(const float* x, size_t n, uint32_t* out) { return ops().listPositive(x, n, out); }
void rope(float* head, const float* cosines, const float* sines, size_t n_rot, RopePairs pairs) {
    ops().rope(head, cosines, sines, n_rot, pairs);
}
void kvStore(KvType type, const float* values, std::byte* row, size_t n) { ops().kvStore(type, values, row, n); }
void kvLoad(KvType type, const std::byte* row, float* values, size_t n) { ops().kvLoad(type, row, values, n); }
void deltaStep(float* state, const float* q, const float* k, const float* v, float decay, float rate, float* out, size_t width) {
    ops().deltaStep(state, q, k, v, decay, rate, out, width);
}

size_t kvRowBytes(KvType type, size_t n) {
    switch (type) {
        case KvType::f16: return 2 * n;
        case KvType::f32: return 4 * n;
        case KvType::q8_0: break;
    }
    if (n % 32 != 0)
        throw Error("the KV cache cannot be kept in Q8_0",
                    "heads of " + std::to_string(n) + " values do not divide into blocks of 32", "choose f16 or f32");
    return n / 32 * 34;
}

size_t attendScratch(const Attention& job) {
    const auto padded = [](size_t n) { return (n + 15) / 16 * 16; };
    return job.heads * (kCellBlock + 2 + padded(job.key_width)) + kCellBlock * padded(std::max(job.key_width, job.value_width));
}

void attend(const Attention& job) {
    thread_local std::vector<float> scratch;
    const size_t needed = attendScratch(job);
    if (scratch.size() < needed) scratch.resize(needed);
    ops().attend(job, scratch.data());
}

}  // namespace hearth::cpu
