#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::cpu {

/// Operations on rows of float32, vectorised for the instruction-set level in use (isa.h), one thread each.
/// Results depend on the inputs and the level only.

/// out[i] = x[i] / sqrt(mean(x²) + eps) * weight[i]; weight may be nullptr (ones). In place allowed.
void rmsNorm(const float* x, const float* weight, float* out, size_t n, float eps);
/// out[i] = (x[i] − mean) / sqrt(variance + eps) * weight[i] + bias[i]; bias may be nullptr.
void layerNorm(const float* x, const float* weight, const float* bias, float* out, size_t n, float eps);
/// In place, the maximum taken off first.
void softmax(float* x, size_t n);
void add(float* x, const float* y, size_t n);                    ///< x += y
void multiply(float* x, const float* y, size_t n);               ///< x *= y
void scale(float* x, float a, size_t n);                         ///< x *= a
void axpy(float a, const float* x, float* y, size_t n);          ///< y += a * x
float dot(const float* x, const float* y, size_t n);
void softcap(float* x, float cap, size_t n);                     ///< x = cap * tanh(x / cap)

/// What a feed-forward does to its gate (formats §2.2). GELU is the tanh form, exact in float32.
enum class Activation : uint8_t { silu, gelu, relu, relu2, drelu, sigmoid, gpt_oss };
/// out[i] = act(gate[i]) * up[i]; with up == nullptr: out[i] = act(gate[i]).
/// drelu: relu(gate) * relu(up). gpt_oss: min(g,7) * sigmoid(1.702 min(g,7)) * (clamp(u,−7,7) + 1).
void activate(Activation activation, const float* gate, const float* up, float* out, size_t n);

/// The numbers i with x[i] > 0, ascending, at out, which has room for n + 16. Returns how many they are.
size_t listPositive(const float* x, size_t n, uint32_t* out);

/// Which elements of a head rotate together: norm = (2i, 2i+1); neox = (i, i + n_rot/2).
enum class RopePairs : uint8_t { norm, neox };
/// Rotates one head in place by n_rot/2 angles given as cosines and sines; elements from n_rot on stay.
void rope(float* head, const float* cosines, const float* sines, size_t n_rot, RopePairs pairs);

/// How keys and values are stored; a row of Q8_0 is blocks of 32 as in the file format.
enum class KvType : uint8_t { f16, f32, q8_0 };
size_t kvRowBytes(KvType type, size_t n);                        ///< Error if q8_0 and n is no multiple of 32
void kvStore(KvType type, const float* values, std::byte* row, size_t n);
void kvLoad(KvType type, const std::byte* row, float* values, size_t n);

/// Attention of `heads` query heads that share one key/value head, for one token, as an online softmax over cells.
struct Attention {
    const float* q = nullptr;        ///< [heads, key_width], heads q_stride apart
    size_t q_stride = 0;
    size_t heads = 0, key_width = 0, value_width = 0;
    KvType type = KvType::f16;
    const std::byte* keys = nullptr;     ///< row of cell c at keys + c * key_stride (bytes)
    size_t key_stride = 0;
    const std::byte* values = nullptr;
    size_t value_stride = 0;
    /// Cells attended, in order: [begin[0], end[0]) then [begin[1], end[1]) (a ring buffer wraps at most once).
    size_t begin[2] = {0, 0}, end[2] = {0, 0};
    float scale = 1.0f, softcap = 0.0f;  ///< softcap 0 = none
    const float* sinks = nullptr;        ///< one extra logit a head that only enters the denominator, or nullptr
    float* out = nullptr;                ///< [heads, value_width], heads out_stride apart
    size_t out_stride = 0;
};
void attend(const Attention& job);

/// One step of a gated delta net head (formats §2.4). state [width, width] (key row, value column) in place:
/// S *= decay; u = rate * (v − Sᵀk); S += k⊗u; out = Sᵀq.
void deltaStep(float* state, const float* q, const float* k, const float* v, float decay, float rate, float* out, size_t width);

}  // namespace hearth::cpu
