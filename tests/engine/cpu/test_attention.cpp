#include <QTest>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/kernels.h"
#include "tests/engine/cpu/weights.h"

using namespace hearth;
using namespace hearth::test;
using cpu::Isa;
using cpu::KvType;
using cpu::Ops;

namespace {

constexpr double kEpsilon = 0x1p-24;
constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

const Ops& current() {
    QFETCH_GLOBAL(int, isa);
    return *cpu::kernels(static_cast<Isa>(isa)).ops;
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

class TestAttention : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() {
        QTest::addColumn<int>("isa");
        for (const Isa isa : cpu::availableIsas()) QTest::newRow(std::string(cpu::isaName(isa)).c_str()) << static_cast<int>(isa);
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
};

QTEST_APPLESS_MAIN(TestAttention)
#include "test_attention.moc"
