#include <QTest>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/cpu/kernels.h"
#include "tests/engine/cpu/weights.h"

using namespace hearth;
using namespace hearth::test;
using cpu::Activation;
using cpu::Isa;
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
