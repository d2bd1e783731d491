#include <QTest>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/kernels.h"
#include "tests/engine/cpu/weights.h"

using namespace hearth;
using namespace hearth::test;
using cpu::Activation;
using cpu::Isa;
using cpu::KvType;
using cpu::Ops;

namespace {

constexpr size_t kSizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 48, 64, 255, 1000};
constexpr double kEpsilon = 0x1p-24;
constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

const Ops& current() {
    QFETCH_GLOBAL(int, isa);
    return *cpu::kernels(static_cast<Isa>(isa)).ops;
}

/// |got − expected| in units of the last place of a float of that size.
double ulps(float got, double expected) {
    const double size = std::max(std::abs(expected), static_cast<double>(std::numeric_limits<float>::min()));
    return std::abs(got - expected) / (std::exp2(std::floor(std::log2(size))) * 0x1p-23);
}

void checkNear(const std::vector<float>& got, const std::vector<double>& expected, const std::vector<double>& bound) {
    for (size_t i = 0; i < expected.size(); ++i)
        if (!(std::abs(got[i] - expected[i]) <= bound[i]))
            QFAIL(qPrintable(QString("%1 of %2: %3, expected %4 ± %5").arg(i).arg(expected.size()).arg(got[i]).arg(expected[i]).arg(bound[i])));
}

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// act(g) · u, as formats §2.2 writes it.
double activated(Activation a, double g, double u, bool with_up) {
    const double relu = std::max(g, 0.0), low = std::min(g, 7.0);
    switch (a) {
        case Activation::silu: return g * sigmoid(g) * u;
        case Activation::gelu: {  // (1 + tanh z) / 2 = e^2z / (1 + e^2z), which does not cancel below zero
            const double twice = std::exp(2 * std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g));
            return g * (std::isinf(twice) ? 1 : twice / (1 + twice)) * u;
        }
        case Activation::relu: return relu * u;
        case Activation::relu2: return relu * relu * u;
        case Activation::drelu: return with_up ? relu * std::max(u, 0.0) : relu;
        case Activation::sigmoid: return sigmoid(g) * u;
        case Activation::gpt_oss: return low * sigmoid(1.702 * low) * (with_up ? std::clamp(u, -7.0, 7.0) + 1 : 1);
    }
    return 0;
}

/// How much a relative error of one epsilon in an intermediate value of the activation may grow.
double condition(Activation a, double g) {
    if (a == Activation::gelu) return 6 + 4 * std::abs(1.6 * g * (1 + 0.0447 * g * g));
    if (a == Activation::gpt_oss) return 6 + 4 * std::abs(1.702 * g);
    return 6;
}

double halfValue(uint16_t h) { return static_cast<double>(halfToFloat(h)); }

/// A stored row as double precision reads it.
std::vector<double> storedRow(KvType type, const std::byte* row, size_t n) {
    std::vector<double> values(n);
    for (size_t i = 0; i < n; ++i) {
        if (type == KvType::f32) {
            float v;
            std::memcpy(&v, row + 4 * i, 4);
            values[i] = static_cast<double>(v);
        } else if (type == KvType::f16) {
            uint16_t h;
            std::memcpy(&h, row + 2 * i, 2);
            values[i] = halfValue(h);
        } else {
            uint16_t d;
            std::memcpy(&d, row + i / 32 * 34, 2);
            values[i] = halfValue(d) * static_cast<int8_t>(row[i / 32 * 34 + 2 + i % 32]);
        }
    }
    return values;
}

struct Cells {
    KvType type;
    size_t count, key_width, value_width;
    std::vector<std::byte> keys, values;

    Cells(const Ops& ops, KvType t, size_t n, size_t kw, size_t vw) : type(t), count(n), key_width(kw), value_width(vw) {
        const size_t kb = cpu::kvRowBytes(t, kw), vb = cpu::kvRowBytes(t, vw);
        keys.resize(n * kb);
        values.resize(n * vb);
        const std::vector<float> k = randomValues(n * kw, 31), v = randomValues(n * vw, 32);
        for (size_t c = 0; c < n; ++c) {
            ops.kvStore(t, k.data() + c * kw, keys.data() + c * kb, kw);
            ops.kvStore(t, v.data() + c * vw, values.data() + c * vb, vw);
        }
    }
    cpu::Attention job(const std::vector<float>& q, size_t heads, std::vector<float>& out) const {
        cpu::Attention a;
        a.q = q.data();
        a.q_stride = key_width;
        a.heads = heads;
        a.key_width = key_width;
        a.value_width = value_width;
        a.type = type;
        a.keys = keys.data();
        a.key_stride = cpu::kvRowBytes(type, key_width);
        a.values = values.data();
        a.value_stride = cpu::kvRowBytes(type, value_width);
        a.end[0] = count;
        a.scale = 1 / std::sqrt(static_cast<float>(key_width));
        a.out = out.data();
        a.out_stride = value_width;
        return a;
    }
};

void attend(const Ops& ops, const cpu::Attention& job) {
    std::vector<float> scratch(cpu::attendScratch(job));
    ops.attend(job, scratch.data());
}

/// Attention of one head, whole softmax at once. cells: their numbers in order.
std::vector<double> attended(const cpu::Attention& job, size_t head, const std::vector<size_t>& cells) {
    std::vector<double> logits;
    double top = job.sinks != nullptr ? job.sinks[head] : -INFINITY;
    for (const size_t c : cells) {
        const std::vector<double> k = storedRow(job.type, job.keys + c * job.key_stride, job.key_width);
        double logit = 0;
        for (size_t i = 0; i < job.key_width; ++i) logit += k[i] * job.q[head * job.q_stride + i];
        logit *= job.scale;
        if (job.softcap != 0) logit = job.softcap * std::tanh(logit / job.softcap);
        logits.push_back(logit);
        top = std::max(top, logit);
    }
    double total = job.sinks != nullptr ? std::exp(job.sinks[head] - top) : 0;
    for (const double logit : logits) total += std::exp(logit - top);
    std::vector<double> out(job.value_width);
    for (size_t i = 0; i < cells.size(); ++i) {
        const std::vector<double> v = storedRow(job.type, job.values + cells[i] * job.value_stride, job.value_width);
        for (size_t j = 0; j < out.size(); ++j) out[j] += std::exp(logits[i] - top) / total * v[j];
    }
    return out;
}

std::vector<size_t> cellsOf(const cpu::Attention& job) {
    std::vector<size_t> cells;
    for (int part = 0; part < 2; ++part)
        for (size_t c = job.begin[part]; c < job.end[part]; ++c) cells.push_back(c);
    return cells;
}

/// Weights sum to one and values are about 4 at most, so errors are those of the logits (up to about 8, in float32) and of
/// the sums over cells.
void checkAttention(const cpu::Attention& job) {
    for (size_t h = 0; h < job.heads; ++h) {
        const std::vector<double> expected = attended(job, h, cellsOf(job));
        const double bound = 4 * kEpsilon * (8.0 * std::sqrt(static_cast<double>(job.key_width)) + static_cast<double>(cellsOf(job).size()) / 8 + 32);
        for (size_t i = 0; i < expected.size(); ++i)
            if (!(std::abs(job.out[h * job.out_stride + i] - expected[i]) <= bound))
                QFAIL(qPrintable(QString("head %1 value %2: %3, expected %4 ± %5").arg(h).arg(i).arg(job.out[h * job.out_stride + i]).arg(expected[i]).arg(bound)));
    }
}

}  // namespace

class TestOps : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() {
        QTest::addColumn<int>("isa");
        for (const Isa isa : cpu::availableIsas()) QTest::newRow(std::string(cpu::isaName(isa)).c_str()) << static_cast<int>(isa);
    }

    void norms() {
        const Ops& ops = current();
        for (const size_t n : kSizes) {
            const std::vector<float> x = randomValues(n, 1), w = randomValues(n, 2), b = randomValues(n, 3);
            double mean = 0, square = 0, variance = 0;
            for (const float v : x) mean += v / static_cast<double>(n), square += static_cast<double>(v) * v / static_cast<double>(n);
            for (const float v : x) variance += (v - mean) * (v - mean) / static_cast<double>(n);
            std::vector<double> rms(n), plain(n), layer(n), rms_bound(n), layer_bound(n);
            const double eps = 1e-5f, factor = 1 / std::sqrt(square + eps), spread = 1 / std::sqrt(variance + eps), steps = static_cast<double>(n) / 8 + 8;
            for (size_t i = 0; i < n; ++i) {
                plain[i] = x[i] * factor;
                rms[i] = plain[i] * w[i];
                rms_bound[i] = steps * kEpsilon * (std::abs(plain[i]) * (1 + std::abs(w[i])));
                layer[i] = (x[i] - mean) * spread * w[i] + b[i];
                // The mean is off by some epsilons of the values' size, and so is the spread of nearly equal values.
                layer_bound[i] = steps * kEpsilon * (8 * spread * (1 + std::abs(x[i])) * (1 + std::abs(w[i])) + std::abs(b[i]));
            }
            std::vector<float> out(n);
            ops.rmsNorm(x.data(), w.data(), out.data(), n, 1e-5f);
            checkNear(out, rms, rms_bound);
            out = x;
            ops.rmsNorm(out.data(), nullptr, out.data(), n, 1e-5f);
            checkNear(out, plain, rms_bound);
            ops.layerNorm(x.data(), w.data(), b.data(), out.data(), n, 1e-5f);
            checkNear(out, layer, layer_bound);
            ops.layerNorm(x.data(), w.data(), nullptr, out.data(), n, 1e-5f);
            for (size_t i = 0; i < n; ++i) layer[i] -= b[i];
            checkNear(out, layer, layer_bound);
        }
    }

    void elementwise() {
        const Ops& ops = current();
        for (const size_t n : kSizes) {
            const std::vector<float> x = randomValues(n, 4), y = randomValues(n, 5);
            std::vector<float> sum = x, product = x, scaled = x, axpy = y;
            ops.add(sum.data(), y.data(), n);
            ops.multiply(product.data(), y.data(), n);
            ops.scale(scaled.data(), 0.3f, n);
            ops.axpy(0.3f, x.data(), axpy.data(), n);
            double dot = 0, magnitude = 0;
            for (size_t i = 0; i < n; ++i) {
                QCOMPARE(sum[i], x[i] + y[i]);
                QCOMPARE(product[i], x[i] * y[i]);
                QCOMPARE(scaled[i], x[i] * 0.3f);
                const double expected = static_cast<double>(0.3f) * x[i] + y[i];
                QVERIFY(std::abs(axpy[i] - expected) <= kEpsilon * (std::abs(0.3 * x[i]) + std::abs(expected)) * 1.01);
                dot += static_cast<double>(x[i]) * y[i];
                magnitude += std::abs(static_cast<double>(x[i]) * y[i]);
            }
            QVERIFY(std::abs(ops.dot(x.data(), y.data(), n) - dot) <= (static_cast<double>(n) / 8 + 8) * kEpsilon * magnitude);
        }
    }

    /// Softmax of two values is a sigmoid of their distance: the exponential function over its whole range.
    void exponentialIsAccurate() {
        const Ops& ops = current();
        double worst = 0;
        for (int i = -8700; i <= 8700; ++i) {
            const float g = static_cast<float>(i) / 100.0f;
            float out = 0;
            ops.activate(Activation::sigmoid, &g, nullptr, &out, 1);
            worst = std::max(worst, ulps(out, sigmoid(static_cast<double>(g))));
        }
        QVERIFY2(worst <= 3, qPrintable(QString::number(worst)));  // exponential, sum and quotient
        for (int i = 1; i < 4000; ++i) {
            float x = static_cast<float>(i) / 400.0f;
            const double expected = std::tanh(static_cast<double>(x));
            ops.softcap(&x, 1.0f, 1);
            worst = std::max(worst, ulps(x, expected));
        }
        QVERIFY2(worst <= 3, qPrintable(QString::number(worst)));
    }

    void softmax() {
        const Ops& ops = current();
        for (const size_t n : kSizes) {
            std::vector<float> x = randomValues(n, 6);
            for (float& v : x) v = v * 20 + 500;
            const double top = *std::ranges::max_element(x);
            double total = 0;
            for (const float v : x) total += std::exp(v - top);
            std::vector<double> expected(n), bound(n);
            for (size_t i = 0; i < n; ++i) {
                expected[i] = std::exp(x[i] - top) / total;
                bound[i] = expected[i] * kEpsilon * (10 + static_cast<double>(n) / 8) + 1e-44;
            }
            ops.softmax(x.data(), n);
            checkNear(x, expected, bound);
        }
        std::vector<float> masked{1.0f, -kInf, 2.0f};
        ops.softmax(masked.data(), 3);
        QCOMPARE(masked[1], 0.0f);
        QVERIFY(std::abs(masked[0] + masked[2] - 1.0f) < 1e-6f);
        ops.softmax(nullptr, 0);
    }

    void activations_data() {
        QTest::addColumn<int>("activation");
        const char* names[] = {"silu", "gelu", "relu", "relu2", "drelu", "sigmoid", "gpt_oss"};
        for (int i = 0; i < 7; ++i) QTest::newRow(names[i]) << i;
    }
    void activations() {
        QFETCH(int, activation);
        const Ops& ops = current();
        const auto a = static_cast<Activation>(activation);
        for (const size_t n : kSizes) {
            std::vector<float> g = randomValues(n, 7), u = randomValues(n, 8), out(n);
            for (size_t i = 0; i < n; ++i) g[i] *= i % 3 == 0 ? 1.0f : 4.0f, u[i] *= 5.0f;
            for (const bool with_up : {true, false}) {
                ops.activate(a, g.data(), with_up ? u.data() : nullptr, out.data(), n);
                for (size_t i = 0; i < n; ++i) {
                    const double expected = activated(a, g[i], with_up ? u[i] : 1, with_up);
                    // gpt_oss adds 1 to up, which may cancel.
                    const double scale = a == Activation::gpt_oss && with_up ? std::abs(activated(a, g[i], 7, true)) : std::abs(expected);
                    const double bound = condition(a, g[i]) * kEpsilon * scale + 1e-36;  // e^a may overflow where the result is that small
                    if (!(std::abs(out[i] - expected) <= bound))
                        QFAIL(qPrintable(QString("g %1 u %2: %3, expected %4 ± %5").arg(g[i]).arg(u[i]).arg(out[i]).arg(expected).arg(bound)));
                }
            }
        }
        float wild[] = {kInf, -kInf, kNan, 1e38f, -1e38f, 1e-45f, 0.0f}, ones[] = {1, 1, 1, 1, 1, 1, 1}, out[7];
        ops.activate(a, wild, ones, out, 7);
        QCOMPARE(out[6], a == Activation::sigmoid ? 0.5f : 0.0f);
    }

    void notANumberStays() {
        const Ops& ops = current();
        float x[3] = {1.0f, kNan, 2.0f};
        ops.activate(Activation::sigmoid, x, nullptr, x, 3);
        QVERIFY(std::isfinite(x[0]) && std::isnan(x[1]) && std::isfinite(x[2]));
        float s[3] = {1.0f, kNan, 2.0f};
        ops.softcap(s, 30.0f, 3);
        QVERIFY(std::isnan(s[1]));
    }

    void softcaps() {
        const Ops& ops = current();
        for (const size_t n : kSizes) {
            std::vector<float> x = randomValues(n, 9);
            for (float& v : x) v *= 40;
            std::vector<double> expected(n), bound(n);
            for (size_t i = 0; i < n; ++i) {
                expected[i] = 30 * std::tanh(x[i] / 30.0);
                bound[i] = 6 * kEpsilon * std::abs(expected[i]);
            }
            ops.softcap(x.data(), 30.0f, n);
            checkNear(x, expected, bound);
        }
    }

    void rotations() {
        const Ops& ops = current();
        for (const size_t n : {2, 6, 16, 34, 64, 128}) {
            const std::vector<float> x = randomValues(n + 5, 10);
            std::vector<float> cosines(n / 2), sines(n / 2);
            for (size_t i = 0; i < n / 2; ++i) cosines[i] = std::cos(static_cast<float>(i)), sines[i] = std::sin(static_cast<float>(i));
            for (const auto pairs : {cpu::RopePairs::norm, cpu::RopePairs::neox}) {
                std::vector<float> out = x;
                ops.rope(out.data(), cosines.data(), sines.data(), n, pairs);
                for (size_t i = 0; i < n / 2; ++i) {
                    const size_t a = pairs == cpu::RopePairs::norm ? 2 * i : i, b = pairs == cpu::RopePairs::norm ? 2 * i + 1 : i + n / 2;
                    const double first = static_cast<double>(x[a]) * cosines[i] - static_cast<double>(x[b]) * sines[i];
                    const double second = static_cast<double>(x[a]) * sines[i] + static_cast<double>(x[b]) * cosines[i];
                    const double bound = 2 * kEpsilon * (std::abs(x[a]) + std::abs(x[b]));
                    QVERIFY(std::abs(out[a] - first) <= bound && std::abs(out[b] - second) <= bound);
                }
                for (size_t i = n; i < n + 5; ++i) QCOMPARE(out[i], x[i]);
            }
        }
    }

    void cacheRows() {
        const Ops& ops = current();
        for (const size_t n : {1, 3, 12, 31, 33, 64, 96, 255}) {
            std::vector<float> x = randomValues(n, 11), back(n);
            if (n > 31) x[5] = 1e5f;  // more than half precision holds, and an outlier for the rest of its block
            for (const KvType type : {KvType::f16, KvType::f32, KvType::q8_0}) {
                if (type == KvType::q8_0 && n % 32 != 0) continue;
                std::vector<std::byte> row(cpu::kvRowBytes(type, n));
                ops.kvStore(type, x.data(), row.data(), n);
                ops.kvLoad(type, row.data(), back.data(), n);
                const std::vector<double> stored = storedRow(type, row.data(), n);
                for (size_t i = 0; i < n; ++i) {
                    QCOMPARE(back[i], static_cast<float>(stored[i]));
                    if (type == KvType::f32) QCOMPARE(back[i], x[i]);
                    if (type == KvType::f16) QCOMPARE(back[i], halfToFloat(floatToHalf(x[i])));
                    if (type == KvType::q8_0) {
                        double largest = 0;
                        for (size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) largest = std::max(largest, std::abs(static_cast<double>(x[j])));
                        // Half a step of largest / 127, whose scale is rounded to 11 bits; the outermost code may be cut.
                        QVERIFY(std::abs(back[i] - x[i]) <= largest / 254 * 1.001 + std::abs(x[i]) * 0x1p-11);
                    }
                }
            }
        }
        QVERIFY_THROWS_EXCEPTION(Error, cpu::kvRowBytes(KvType::q8_0, 48));
        std::vector<float> wild(64, 0.0f);
        wild[0] = kNan;
        wild[40] = kInf;
        std::vector<std::byte> row(68);
        ops.kvStore(KvType::q8_0, wild.data(), row.data(), 64);
    }

    void attention_data() {
        QTest::addColumn<int>("type");
        QTest::newRow("f16") << static_cast<int>(KvType::f16);
        QTest::newRow("f32") << static_cast<int>(KvType::f32);
        QTest::newRow("q8_0") << static_cast<int>(KvType::q8_0);
    }
    void attention() {
        QFETCH(int, type);
        const Ops& ops = current();
        const auto kv = static_cast<KvType>(type);
        for (const size_t width : {32, 64, 96})
            for (const size_t count : {1, 2, 31, 32, 33, 100, 300})
                for (const size_t heads : {1, 3, 8}) {
                    const Cells cells(ops, kv, count, width, width == 96 ? 64 : width);
                    const std::vector<float> q = randomValues(heads * width, 12), sinks = randomValues(heads, 13);
                    std::vector<float> out(heads * cells.value_width);
                    cpu::Attention job = cells.job(q, heads, out);
                    attend(ops, job);
                    checkAttention(job);
                    job.softcap = 2.0f;
                    job.sinks = sinks.data();
                    attend(ops, job);
                    checkAttention(job);
                    if (QTest::currentTestFailed()) return;
                }
    }

    void attentionOfAwkwardWidth() {
        const Ops& ops = current();
        const Cells cells(ops, KvType::f16, 45, 12, 7);
        const std::vector<float> q = randomValues(2 * 12, 12);
        std::vector<float> out(2 * 7);
        const cpu::Attention job = cells.job(q, 2, out);
        attend(ops, job);
        checkAttention(job);
    }

    /// A ring that wraps gives the bits of the same cells in a row; a head gives the bits it has alone.
    void attentionBits() {
        const Ops& ops = current();
        const size_t width = 64, count = 90, heads = 4, turn = 37;
        const Cells cells(ops, KvType::f16, count, width, width);
        const std::vector<float> q = randomValues(heads * width, 14);
        std::vector<float> out(heads * width), turned(heads * width), alone(width);
        const cpu::Attention job = cells.job(q, heads, out);
        attend(ops, job);
        Cells ring = cells;
        std::rotate(ring.keys.begin(), ring.keys.end() - static_cast<ptrdiff_t>(turn * job.key_stride), ring.keys.end());
        std::rotate(ring.values.begin(), ring.values.end() - static_cast<ptrdiff_t>(turn * job.value_stride), ring.values.end());
        cpu::Attention wrapped = ring.job(q, heads, turned);
        wrapped.begin[0] = turn, wrapped.end[0] = count, wrapped.begin[1] = 0, wrapped.end[1] = turn;
        attend(ops, wrapped);
        QVERIFY(out == turned);
        for (size_t h = 0; h < heads; ++h) {
            cpu::Attention one = cells.job(q, 1, alone);
            one.q = q.data() + h * width;
            attend(ops, one);
            QVERIFY(std::equal(alone.begin(), alone.end(), out.begin() + static_cast<ptrdiff_t>(h * width)));
        }
    }

    /// No cell at all: zeros. Values that are the first part of the keys, as in latent attention.
    void attentionEdges() {
        const Ops& ops = current();
        const Cells cells(ops, KvType::f32, 50, 96, 64);
        const std::vector<float> q = randomValues(2 * 96, 15);
        std::vector<float> out(2 * 64, 5.0f), sinks(2, 1.0f);
        cpu::Attention job = cells.job(q, 2, out);
        job.values = job.keys;
        job.value_stride = job.key_stride;
        attend(ops, job);
        checkAttention(job);
        job.end[0] = 0;
        attend(ops, job);
        QVERIFY(out == std::vector<float>(2 * 64, 0.0f));
        job.sinks = sinks.data();
        out.assign(2 * 64, 5.0f);
        attend(ops, job);
        QVERIFY(out == std::vector<float>(2 * 64, 0.0f));
    }

    void deltaSteps() {
        const Ops& ops = current();
        for (const size_t n : {1, 3, 16, 20, 64, 128}) {
            std::vector<float> state = randomValues(n * n, 16), q = randomValues(n, 17), k = randomValues(n, 18), v = randomValues(n, 19), out(n);
            for (float& a : k) a /= std::sqrt(static_cast<float>(n));
            std::vector<double> s(state.begin(), state.end());
            const double decay = 0.9f, rate = 0.4f, bound = 8 * kEpsilon * static_cast<double>(n + 8);
            ops.deltaStep(state.data(), q.data(), k.data(), v.data(), 0.9f, 0.4f, out.data(), n);
            for (double& a : s) a *= decay;
            for (size_t c = 0; c < n; ++c) {
                double seen = 0, expected = 0;
                for (size_t r = 0; r < n; ++r) seen += s[r * n + c] * k[r];
                const double update = rate * (v[c] - seen);
                for (size_t r = 0; r < n; ++r) {
                    s[r * n + c] += k[r] * update;
                    expected += s[r * n + c] * q[r];
                    QVERIFY(std::abs(state[r * n + c] - s[r * n + c]) <= bound);
                }
                QVERIFY(std::abs(out[c] - expected) <= bound * 4);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestOps)
#include "test_ops.moc"
