#include <QTest>

#include <array>
#include <limits>
#include <map>
#include <numeric>

#include "engine/cpu/products.h"
#include "engine/sparse/regrouped.h"
#include "tests/engine/cpu/weights.h"

using namespace hearth;
using namespace hearth::test;
using cpu::Activation;
using cpu::Isa;

namespace {

constexpr size_t kNeurons = 700, kWidth = 512;

/// A feed-forward of one token whose gate is negative for three neurons of four, and the products it is made of.
struct Made {
    RandomWeight up, down;
    std::vector<float> x = randomValues(kWidth, 3), gate = randomValues(kNeurons, 4), bias = randomValues(kNeurons, 5);
    std::vector<uint32_t> positive, everyone;

    explicit Made(Type type) : up(type, kNeurons, kWidth, 1), down(type, kNeurons, kWidth, 2), everyone(kNeurons) {
        std::iota(everyone.begin(), everyone.end(), 0u);
        for (uint32_t j = 0; j < kNeurons; ++j) {
            gate[j] -= 0.7f;
            if (gate[j] > 0) positive.push_back(j);
        }
    }

    /// up · x by the ordinary product, whose values have tests of their own.
    std::vector<float> ups(const cpu::Kernels& kernels) const {
        std::vector<float> out(kNeurons);
        ThreadPool pool(1);
        cpu::Activations activations;
        activations.set({x.data(), 1, kWidth});
        const cpu::Product product{up.weight, &activations, 0, 0, {out.data(), 1, kNeurons}};
        cpu::multiply(kernels, pool, {&product, 1});
        return out;
    }

    std::vector<float> run(const cpu::Kernels& kernels, unsigned threads, std::span<const uint32_t> list,
                           Activation activation, bool gated, std::vector<float>& hidden) const {
        ThreadPool pool(threads);
        cpu::Activations activations;
        activations.set({x.data(), 1, kWidth});
        std::vector<float> out(kWidth, -1.0f);
        cpu::Neurons n;
        n.list = list;
        n.up = up.weight;
        n.up_bias = bias.data();
        n.up_scale = 0.5f;
        n.x = &activations;
        n.activation = activation;
        n.gate = gated ? gate.data() : nullptr;
        n.hidden = hidden.data();
        n.down = down.weight;
        n.out = out.data();
        cpu::multiplyNeurons(kernels, pool, {&n, 1});
        return out;
    }
};

const Made& madeOf(int type) {
    static std::map<int, Made> made;
    return made.try_emplace(type, static_cast<Type>(type)).first->second;
}

/// A down-projection as files have it, and its regrouped copy; outputs that do not fill the last chunk of 32.
struct MadeRegrouped {
    static constexpr size_t kOutputs = 328, kOf = 768;
    RandomWeight file;   // [outputs, neurons]
    sparse::Regrouped layout;
    std::vector<std::byte> copy;
    cpu::RegroupedWeight weight;
    std::vector<float> hidden = randomValues(kOf, 8);
    std::vector<uint32_t> fire, everyone;

    explicit MadeRegrouped(Type type) : file(type, kOutputs, kOf, 6), layout(type, kOutputs, kOf), copy(layout.bytes), everyone(kOf) {
        sparse::regroup(layout, file.bytes, 0, kOf, copy);
        weight = {type, copy.data(), copy.data() + layout.scales_at, copy.data() + layout.common_at, kOf, kOutputs,
                  layout.group, layout.common_group, layout.code_row_bytes, layout.scale_row_bytes, layout.common_row_bytes};
        std::iota(everyone.begin(), everyone.end(), 0u);
        // Three of four are zero; the neurons 256 to 511 all fire, those of a stretch none.
        for (uint32_t j = 0; j < kOf; ++j) {
            if (j / 256 != 1 && (hidden[j] < 0.7f || (j >= 512 && j < 640))) hidden[j] = 0;
            else fire.push_back(j);
        }
    }

    std::vector<float> run(const cpu::Kernels& kernels, unsigned threads, std::span<const uint32_t> list,
                           bool everything = false) const {
        ThreadPool pool(threads);
        std::vector<float> out(kOutputs, -1.0f);
        cpu::Neurons n;
        n.everything = everything;
        n.list = list;
        n.hidden = const_cast<float*>(hidden.data());   // read only: there is no `up`
        n.regrouped = weight;
        n.out = out.data();
        cpu::multiplyNeurons(kernels, pool, {&n, 1});
        return out;
    }
};

const MadeRegrouped& regroupedOf(int type) {
    static std::map<int, MadeRegrouped> made;
    return made.try_emplace(type, static_cast<Type>(type)).first->second;
}

}  // namespace

class TestNeurons : public QObject {
    Q_OBJECT

private slots:
    void values_data() {
        QTest::addColumn<int>("isa");
        QTest::addColumn<int>("type");
        std::vector<Type> types = blockTypes();
        types.insert(types.end(), floatTypes().begin(), floatTypes().end());
        for (const Isa isa : cpu::availableIsas())
            for (const Type type : types)
                QTest::addRow("%s %s", std::string(cpu::isaName(isa)).c_str(),
                              std::string(gguf::typeInfo(type).name).c_str())
                    << static_cast<int>(isa) << static_cast<int>(type);
    }
    void values() {
        QFETCH(int, isa);
        QFETCH(int, type);
        const cpu::Kernels& kernels = cpu::kernels(static_cast<Isa>(isa));
        const Made& made = madeOf(type);
        const std::vector<float> ups = made.ups(kernels);
        for (const auto& [activation, gated] :
             {std::pair(Activation::relu, true), {Activation::drelu, true}, {Activation::relu2, false}}) {
            std::vector<float> hidden(kNeurons, 77.0f);
            const std::vector<float> out = made.run(kernels, 1, made.positive, activation, gated, hidden);
            std::vector<double> sums(kWidth), magnitudes(kWidth);
            size_t at = 0;
            for (uint32_t j = 0; j < kNeurons; ++j) {
                if (at == made.positive.size() || made.positive[at] != j) {
                    QCOMPARE(hidden[j], 77.0f);
                    continue;
                }
                ++at;
                const float up = ups[j] * 0.5f + made.bias[j], high = std::max(up, 0.0f);
                const float wanted =
                    !gated ? high * high : made.gate[j] * (activation == Activation::drelu ? high : up);
                QCOMPARE(hidden[j], wanted);
                for (size_t k = 0; k < kWidth; ++k) {
                    const double term = static_cast<double>(wanted) * made.down.values[j * kWidth + k];
                    sums[k] += term;
                    magnitudes[k] += std::abs(term);
                }
            }
            for (size_t k = 0; k < kWidth; ++k)
                QVERIFY(std::abs(out[k] - sums[k]) <= kNeurons * 0x1p-24 * magnitudes[k]);
        }
    }

    /// Neurons whose gate is negative change no bit, whether they are in the list or not; nor does the number of threads.
    void sameBits_data() { values_data(); }
    void sameBits() {
        QFETCH(int, isa);
        QFETCH(int, type);
        const cpu::Kernels& kernels = cpu::kernels(static_cast<Isa>(isa));
        const Made& made = madeOf(type);
        std::vector<float> hidden(kNeurons);
        const std::vector<float> all = made.run(kernels, 1, made.everyone, Activation::relu, true, hidden);
        ThreadPool single(1);
        std::vector<float> transposed(kWidth);
        cpu::multiplyTransposed(kernels, single, made.down.weight, {hidden.data(), 1, kNeurons},
                                {transposed.data(), 1, kWidth}, true);
        QVERIFY(std::memcmp(transposed.data(), all.data(), kWidth * sizeof(float)) == 0);
        for (const unsigned threads : {1u, 2u, 3u, 4u, 7u}) {
            std::vector<float> some(kNeurons);
            const std::vector<float> out = made.run(kernels, threads, made.positive, Activation::relu, true, some);
            QVERIFY(std::memcmp(out.data(), all.data(), kWidth * sizeof(float)) == 0);
        }
    }

    void regrouped_data() {
        QTest::addColumn<int>("isa");
        QTest::addColumn<int>("type");
        for (const Isa isa : cpu::availableIsas())
            for (const Type type : blockTypes())
                QTest::addRow("%s %s", std::string(cpu::isaName(isa)).c_str(),
                              std::string(gguf::typeInfo(type).name).c_str())
                    << static_cast<int>(isa) << static_cast<int>(type);
    }
    /// The values of the file's own blocks; neurons that are zero change no bit, nor does the number of threads.
    void regrouped() {
        QFETCH(int, isa);
        QFETCH(int, type);
        const cpu::Kernels& kernels = cpu::kernels(static_cast<Isa>(isa));
        const MadeRegrouped& made = regroupedOf(type);
        const std::vector<float> out = made.run(kernels, 1, made.fire);
        for (size_t o = 0; o < made.kOutputs; ++o) {
            double sum = 0, magnitude = 0;
            for (const uint32_t j : made.fire) {
                const double term = static_cast<double>(made.hidden[j]) * made.file.values[o * made.kOf + j];
                sum += term;
                magnitude += std::abs(term);
            }
            QVERIFY(std::abs(out[o] - sum) <= 64 * 0x1p-24 * magnitude);
        }
        QVERIFY(std::memcmp(made.run(kernels, 1, made.everyone, true).data(), out.data(), out.size() * sizeof(float)) == 0);
        for (const unsigned threads : {2u, 3u, 4u, 7u})
            QVERIFY(std::memcmp(made.run(kernels, threads, made.fire).data(), out.data(), out.size() * sizeof(float)) == 0);
    }

    /// Up rows and a regrouped down-projection in one hand-out, of several feed-forwards of different tokens.
    void severalAtOnce() {
        const cpu::Kernels& kernels = cpu::activeKernels();
        const RandomWeight up(Type::Q4_0, MadeRegrouped::kOf, kWidth, 1);
        const std::vector<float> x = randomValues(2 * kWidth, 3), gate = randomValues(MadeRegrouped::kOf, 4);
        std::vector<uint32_t> fire;
        for (uint32_t j = 0; j < MadeRegrouped::kOf; ++j)
            if (gate[j] > 0) fire.push_back(j);
        ThreadPool pool(3);
        cpu::Activations activations;
        activations.set({x.data(), 2, kWidth});
        std::vector<float> ups(2 * MadeRegrouped::kOf);
        const cpu::Product product{up.weight, &activations, 0, 0, {ups.data(), 2, MadeRegrouped::kOf}};
        cpu::multiply(kernels, pool, {&product, 1});
        std::vector<cpu::Neurons> all;
        std::vector<std::vector<float>> hidden(3, std::vector<float>(MadeRegrouped::kOf)), outs;
        const std::array<Type, 3> types{Type::Q4_0, Type::Q6_K, Type::Q4_K};
        for (size_t i = 0; i < 3; ++i) {
            outs.emplace_back(MadeRegrouped::kOutputs);
            cpu::Neurons& n = all.emplace_back();
            n.list = fire;
            n.up = up.weight;
            n.x = &activations;
            n.x_row = i % 2;
            n.gate = gate.data();
            n.hidden = hidden[i].data();
            n.regrouped = regroupedOf(static_cast<int>(types[i])).weight;
            n.out = outs[i].data();
        }
        cpu::multiplyNeurons(kernels, pool, all);
        for (size_t i = 0; i < 3; ++i) {
            const MadeRegrouped& made = regroupedOf(static_cast<int>(types[i]));
            for (const uint32_t j : fire) QCOMPARE(hidden[i][j], gate[j] * ups[i % 2 * made.kOf + j]);
            for (size_t o = 0; o < made.kOutputs; ++o) {
                double sum = 0, magnitude = 0;
                for (const uint32_t j : fire) {
                    const double term = static_cast<double>(hidden[i][j]) * made.file.values[o * made.kOf + j];
                    sum += term;
                    magnitude += std::abs(term);
                }
                QVERIFY(std::abs(outs[i][o] - sum) <= 64 * 0x1p-24 * magnitude);
            }
        }
    }

    void emptyList() {
        const Made& made = madeOf(static_cast<int>(Type::Q4_0));
        std::vector<float> hidden(kNeurons);
        for (const float v : made.run(cpu::activeKernels(), 2, {}, Activation::relu, true, hidden)) QCOMPARE(v, 0.0f);
    }

    void positiveOnes() {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        for (const Isa isa : cpu::availableIsas())
            for (const size_t n : {size_t{0}, size_t{1}, size_t{7}, size_t{16}, size_t{31}, size_t{1000}}) {
                std::vector<float> x = randomValues(n, 9);
                for (size_t i = 0; i < n; i += 5) x[i] = i % 2 == 0 ? -0.0f : nan;
                std::vector<uint32_t> expected, got(n + 16);
                for (uint32_t i = 0; i < n; ++i)
                    if (x[i] > 0) expected.push_back(i);
                got.resize(cpu::kernels(isa).ops->listPositive(x.data(), n, got.data()));
                QVERIFY(got == expected);
            }
    }
};

QTEST_GUILESS_MAIN(TestNeurons)
#include "test_neurons.moc"
