#include <QTest>

#include <filesystem>
#include <fstream>
#include <map>

#include "engine/base/error.h"
#include "engine/cpu/products.h"
#include "tests/engine/cpu/weights.h"

#if defined(__x86_64__)
namespace hearth::cpu::avxvnni_evex {
extern const Products products_table;
}
#endif

using namespace hearth;
using namespace hearth::test;
using cpu::Activations;
using cpu::Isa;
using cpu::Product;

namespace {

struct Case { Isa isa; Type type; };

QByteArray rowName(Isa isa, Type type) {
    return QByteArray::fromStdString(std::string(cpu::isaName(isa)) + " " + std::string(gguf::typeInfo(type).name));
}

/// The levels that this processor runs, and avxvnni in its other coding where it has only that.
std::vector<Isa> levels() {
    const auto available = cpu::availableIsas();
    std::vector<Isa> isas(available.begin(), available.end());
#if defined(__x86_64__)
    if (available.back() == Isa::avx512 && std::ranges::find(isas, Isa::avxvnni) == isas.end()) isas.push_back(Isa::avxvnni);
#endif
    return isas;
}

const cpu::Kernels& kernelsOf(Isa isa) {
    const auto available = cpu::availableIsas();
    if (std::ranges::find(available, isa) != available.end()) return cpu::kernels(isa);
#if defined(__x86_64__)
    static const cpu::Kernels evex{Isa::avxvnni, cpu::kernels(Isa::avx2).ops, &cpu::avxvnni_evex::products_table};
    return evex;
#else
    return cpu::kernels(Isa::generic);
#endif
}

/// out [tokens, rows] of one product.
std::vector<float> productOf(Isa isa, ThreadPool& pool, const cpu::Weight& weight, const std::vector<float>& x, size_t tokens,
                             float fine_from = cpu::kFineFrom) {
    std::vector<float> out(tokens * weight.rows, -1.0f);
    Activations activations;
    activations.set({x.data(), tokens, weight.cols}, fine_from);
    const Product product{weight, &activations, 0, 0, {out.data(), tokens, weight.rows}};
    cpu::multiply(kernelsOf(isa), pool, {&product, 1});
    return out;
}

/// What a row of weights times a row of activations is, and by how much the arithmetic may miss it.
struct Expected { double value, rounding, summing, variance; };

/// rounding: each activation moves by at most half a step of its block: amax / 254, or amax / 64768 in a block that stands
/// out from its row.
/// summing: one float operation a value at most, each with a relative error of 2^-24 of the magnitudes so far. Types with a
/// minimum add codes and minimum apart, which are at most a few times as large as the largest value of a row.
/// variance: of the sum, when each rounding error is uniform in its step.
Expected expectedOf(Type type, const float* w, const float* x, size_t n, double fine_from = 4.0) {
    Expected e{0, 0, 0, 0};
    double magnitude = 0, largest_w = 0, squares = 0;
    for (size_t k = 0; k < n; ++k) {
        largest_w = std::max(largest_w, std::abs(static_cast<double>(w[k])));
        squares += static_cast<double>(x[k]) * x[k];
    }
    const double stands_out = fine_from * std::sqrt(squares / static_cast<double>(n)) * 1.0001;
    for (size_t b = 0; b < n; b += 32) {
        double largest = 0;
        const size_t end = std::min(n, b + 32);
        for (size_t k = b; k < end; ++k) largest = std::max(largest, std::abs(static_cast<double>(x[k])));
        const double step = largest > stands_out ? largest / 32384 : largest / 127;
        for (size_t k = b; k < end; ++k) {
            e.value += static_cast<double>(w[k]) * x[k];
            magnitude += (isFloat(type) ? std::abs(w[k]) : 4 * largest_w) * std::abs(x[k]);
            if (isFloat(type)) continue;
            e.rounding += std::abs(w[k]) * step / 2 * 1.0001;
            e.variance += w[k] * w[k] * step * step / 12;
        }
    }
    const double operations = isFloat(type) ? static_cast<double>(n) + 2 : static_cast<double>(n) / 8 + 4;
    e.summing = operations * 0x1p-24 * magnitude;
    return e;
}

enum class Inputs {
    exact,     ///< activations that need no rounding
    ordinary,
    outliers,  ///< few channels hold values far above the others', as in real models
    fine,      ///< ordinary ones, all rounded to 16 bits
};

std::vector<float> inputs(Inputs kind, size_t n, uint32_t seed) {
    if (kind == Inputs::exact) return exactValues(n, seed);
    std::vector<float> x = randomValues(n, seed);
    if (kind == Inputs::outliers)
        for (size_t i = seed % 50; i < n; i += 487) x[i] = i % 2 == 0 ? 60.0f : -41.0f;
    return x;
}

/// Compares products with the reference; says where the first miss is.
void checkProduct(Isa isa, Type type, size_t rows, size_t cols, size_t tokens, Inputs kind) {
    const bool exact = kind == Inputs::exact;
    ThreadPool pool(1);
    const auto seed = static_cast<uint32_t>(rows * 1000 + cols * 10 + tokens);
    const RandomWeight w(type, rows, cols, seed);
    const std::vector<float> x = inputs(kind, tokens * cols, seed + 1);
    const float fine_from = kind == Inputs::fine ? 0.0f : 4.0f;
    const std::vector<float> out = productOf(isa, pool, w.weight, x, tokens, fine_from);
    double error = 0, variance = 0;
    for (size_t t = 0; t < tokens; ++t)
        for (size_t r = 0; r < rows; ++r) {
            const Expected e = expectedOf(type, w.values.data() + r * cols, x.data() + t * cols, cols, fine_from);
            const double miss = std::abs(out[t * rows + r] - e.value), bound = e.summing + (exact ? 0 : e.rounding);
            if (!(miss <= bound))
                QFAIL(qPrintable(QString("%1x%2, token %3 row %4: %5, expected %6 ± %7").arg(rows).arg(cols).arg(t).arg(r)
                                     .arg(out[t * rows + r]).arg(e.value).arg(bound)));
            error += miss * miss;
            variance += isFloat(type) ? 1e-12 * e.value * e.value : e.variance;
        }
    // Rows share the errors of the activations, and few blocks have most of the weight, so there are not many samples.
    // With 16 bits the additions' own rounding is most of it.
    const bool by_rounding = kind == Inputs::ordinary || kind == Inputs::outliers;
    if (by_rounding && tokens >= 19 && cols >= 256) QVERIFY2(error <= 3 * variance, qPrintable(QString::number(error / variance)));
}

/// Columns that a type can have: awkward ones for the float types, few and many blocks for the others.
std::vector<size_t> columnsOf(Type type) {
    if (isFloat(type)) return {1, 3, 12, 31, 33, 48, 255, 777};
    const size_t block = gguf::typeInfo(type).block_elements;
    return {block, 3 * block, std::max<size_t>(5 * block, 1280 / block * block + block)};
}

std::filesystem::path fixtures() {
    const char* set = std::getenv("HEARTH_FIXTURES");
    return set != nullptr ? std::filesystem::path(set) : std::filesystem::path(HEARTH_SOURCE_DIR) / "../shared/fixtures";
}

std::vector<char> readAll(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

class TestProducts : public QObject {
    Q_OBJECT

    static void everyLevelAndType() {
        QTest::addColumn<int>("isa");
        QTest::addColumn<int>("type");
        for (const Isa isa : levels())
            for (const auto* types : {&floatTypes(), &blockTypes()})
                for (const Type type : *types) QTest::newRow(rowName(isa, type)) << static_cast<int>(isa) << static_cast<int>(type);
    }
    static Case current() {
        QFETCH(int, isa);
        QFETCH(int, type);
        return {static_cast<Isa>(isa), static_cast<Type>(type)};
    }

private slots:
    void reference_data() { everyLevelAndType(); }
    void reference() {
        const Case c = current();
        for (const size_t cols : columnsOf(c.type))
            for (const size_t rows : {1, 3, 15, 16, 17, 31, 33, 48})
                for (const size_t tokens : {1, 2, 5, 19}) {
                    for (const Inputs kind : {Inputs::exact, Inputs::ordinary}) checkProduct(c.isa, c.type, rows, cols, tokens, kind);
                    if (rows == 17 && !isFloat(c.type))
                        for (const Inputs kind : {Inputs::outliers, Inputs::fine}) checkProduct(c.isa, c.type, rows, cols, tokens, kind);
                    if (QTest::currentTestFailed()) return;
                }
    }

    /// A token has the bits that it has alone, whatever the batch, the threads and the list.
    void bits_data() { everyLevelAndType(); }
    void bits() {
        const Case c = current();
        const size_t rows = 333, cols = columnsOf(c.type).back(), tokens = 23;
        const RandomWeight w(c.type, rows, cols, 7);
        const std::vector<float> x = inputs(Inputs::outliers, tokens * cols, 8);
        ThreadPool single(1);
        std::vector<float> alone;
        for (size_t t = 0; t < tokens; ++t) {
            const std::vector<float> one(x.begin() + static_cast<ptrdiff_t>(t * cols), x.begin() + static_cast<ptrdiff_t>((t + 1) * cols));
            const std::vector<float> out = productOf(c.isa, single, w.weight, one, 1);
            alone.insert(alone.end(), out.begin(), out.end());
        }
        for (const unsigned threads : {1u, 2u, 3u, 4u, 7u}) {
            ThreadPool pool(threads);
            for (const size_t n : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{8}, size_t{13}, tokens}) {
                const std::vector<float> out = productOf(c.isa, pool, w.weight, x, n);
                QVERIFY2(std::memcmp(out.data(), alone.data(), out.size() * sizeof(float)) == 0,
                         qPrintable(QString("%1 threads, %2 tokens").arg(threads).arg(n)));
            }
            // A list: slices of the weight, ranges of the tokens, a stride between the outputs' rows.
            Activations activations;
            activations.set({x.data(), tokens, cols});
            std::vector<float> out(tokens * 400, -1.0f);
            const std::vector<Product> list{{w.weight.slice(0, 7), &activations, 0, 0, {out.data(), tokens, 7, 400}},
                                            {w.weight.slice(7, 100), &activations, 0, 5, {out.data() + 7, 5, 100, 400}},
                                            {w.weight.slice(7, 100), &activations, 5, 18, {out.data() + 5 * 400 + 7, 18, 100, 400}},
                                            {w.weight.slice(107, 226), &activations, 0, 0, {out.data() + 107, tokens, 226, 400}}};
            cpu::multiply(kernelsOf(c.isa), pool, list);
            for (size_t t = 0; t < tokens; ++t) {
                QVERIFY(std::memcmp(out.data() + t * 400, alone.data() + t * rows, rows * sizeof(float)) == 0);
                QCOMPARE(out[t * 400 + rows], -1.0f);
            }
        }
    }

    /// Blocks of the fixtures, edge cases included, against the values that come with them.
    void fixtureBlocks_data() {
        QTest::addColumn<int>("isa");
        QTest::addColumn<int>("type");
        for (const Isa isa : levels())
            for (const Type type : blockTypes()) QTest::newRow(rowName(isa, type)) << static_cast<int>(isa) << static_cast<int>(type);
    }
    void fixtureBlocks() {
        const Case c = current();
        const std::string name(gguf::typeInfo(c.type).name);
        std::vector<char> blocks = readAll(fixtures() / "blocks" / (name + ".bin")), values = readAll(fixtures() / "blocks" / (name + ".f32"));
        if (blocks.empty() || values.empty()) QSKIP("no fixtures: set HEARTH_FIXTURES");
        const size_t cols = gguf::typeInfo(c.type).block_elements, bytes = gguf::typeInfo(c.type).block_bytes;
        const size_t rows = std::min<size_t>(blocks.size() / bytes, 4096);
        std::vector<float> w(rows * cols);
        std::memcpy(w.data(), values.data(), w.size() * sizeof(float));
        const cpu::Weight weight{c.type, reinterpret_cast<const std::byte*>(blocks.data()), rows, cols, bytes};
        const std::vector<float> x = exactValues(cols, 5);
        ThreadPool pool(1);
        const std::vector<float> out = productOf(c.isa, pool, weight, x, 1);
        size_t checked = 0;
        for (size_t r = 0; r < rows; ++r) {
            const Expected e = expectedOf(c.type, w.data() + r * cols, x.data(), cols);
            if (!std::isfinite(e.value) || std::abs(e.value) > 1e37) continue;
            ++checked;
            // Types with a minimum may cancel two numbers as large as the largest half.
            const double bound = e.summing + (e.summing == 0 ? 0 : 1e-38);
            QVERIFY2(std::abs(out[r] - e.value) <= bound, qPrintable(QString("block %1: %2, expected %3 ± %4").arg(r).arg(out[r]).arg(e.value).arg(bound)));
        }
        QVERIFY(checked * 2 > rows);
    }

    void notFinite_data() { everyLevelAndType(); }
    void notFinite() {
        const Case c = current();
        const size_t cols = columnsOf(c.type).back();
        const RandomWeight w(c.type, 17, cols, 3);
        ThreadPool pool(1);
        for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            std::vector<float> x = randomValues(3 * cols, 4);
            x[cols + 5] = bad;
            const std::vector<float> out = productOf(c.isa, pool, w.weight, x, 3);
            for (size_t r = 0; r < 17; ++r) {
                QVERIFY(std::isfinite(out[r]));
                QVERIFY(!std::isfinite(out[17 + r]));
                QVERIFY(std::isfinite(out[34 + r]));
            }
        }
        const std::vector<float> zeros(cols), tiny(cols, 1e-39f);
        for (const float v : productOf(c.isa, pool, w.weight, zeros, 1)) QCOMPARE(v, 0.0f);
        for (const float v : productOf(c.isa, pool, w.weight, tiny, 1)) QVERIFY(std::abs(v) < 1e-34f);
    }

    void transposed_data() { everyLevelAndType(); }
    void transposed() {
        const Case c = current();
        const size_t neurons = 600, cols = isFloat(c.type) ? 270 : gguf::typeInfo(c.type).block_elements * (gguf::typeInfo(c.type).block_elements == 256 ? 2 : 12);
        const RandomWeight w(c.type, neurons, cols, 11);
        const size_t tokens = 7;
        std::vector<float> coefficients = randomValues(tokens * neurons, 12);
        for (size_t i = 0; i < coefficients.size(); ++i)
            if (i % 3 != 0) coefficients[i] = 0.0f;
        ThreadPool single(1);
        std::vector<float> alone(tokens * cols);
        for (size_t t = 0; t < tokens; ++t)
            cpu::multiplyTransposed(kernelsOf(c.isa), single, w.weight, {coefficients.data() + t * neurons, 1, neurons}, {alone.data() + t * cols, 1, cols});
        for (size_t t = 0; t < tokens; ++t)
            for (size_t k = 0; k < cols; ++k) {
                double value = 0, magnitude = 0;
                for (size_t j = 0; j < neurons; ++j) {
                    const double term = static_cast<double>(coefficients[t * neurons + j]) * w.values[j * cols + k];
                    value += term;
                    magnitude += std::abs(term);
                }
                QVERIFY(std::abs(alone[t * cols + k] - value) <= 600 * 0x1p-24 * magnitude);
            }
        for (const unsigned threads : {1u, 2u, 3u, 4u, 7u}) {
            ThreadPool pool(threads);
            for (const size_t n : {size_t{1}, size_t{3}, tokens}) {
                std::vector<float> out(n * cols, -1.0f);
                cpu::multiplyTransposed(kernelsOf(c.isa), pool, w.weight, {coefficients.data(), n, neurons}, {out.data(), n, cols});
                QVERIFY(std::memcmp(out.data(), alone.data(), out.size() * sizeof(float)) == 0);
            }
        }
    }

    void decodedRow() {
        for (const Type type : blockTypes()) {
            const size_t cols = gguf::typeInfo(type).block_elements * 2;
            const RandomWeight w(type, 3, cols, 21);
            std::vector<float> row(cols);
            cpu::decodeRow(w.weight, 1, row.data());
            QVERIFY(std::memcmp(row.data(), w.values.data() + cols, cols * sizeof(float)) == 0);
        }
    }

    void refused() {
        const std::vector<float> x(32);
        std::vector<float> out(4);
        const std::vector<std::byte> bytes(4 * 32 * 8);
        Activations activations;
        activations.set({x.data(), 1, 32});
        ThreadPool pool(1);
        const Product odd{{Type::I32, bytes.data(), 4, 32, 128}, &activations, 0, 0, {out.data(), 1, 4}};
        QVERIFY_THROWS_EXCEPTION(Error, cpu::multiply(pool, odd));
        const Product narrow{{Type::F32, bytes.data(), 4, 16, 64}, &activations, 0, 0, {out.data(), 1, 4}};
        QVERIFY_THROWS_EXCEPTION(std::logic_error, cpu::multiply(pool, narrow));
    }
};

QTEST_APPLESS_MAIN(TestProducts)
#include "test_products.moc"
