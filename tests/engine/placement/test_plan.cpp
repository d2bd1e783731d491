#include <QtTest>
#include <cmath>

#include "engine/base/error.h"
#include "engine/placement/plan.h"
#include "tests/support/fixtures.h"

using namespace hearth;
using placement::Device;
using placement::Plan;

namespace {

model::Description describe(const std::string& name) {
    return model::Description::read(gguf::File::open(test::dataFolder() / "models" / (name + ".gguf")));
}

constexpr uint64_t gib = uint64_t{1} << 30;
const Device roomy{.name = "cpu", .kind = placement::Kind::cpu, .bytes_total = 16 * gib, .bytes_free = 8 * gib};

uint64_t partBytes(const Plan& plan, const std::string& what) {
    for (const auto& part : plan.parts)
        if (part.what == what) return part.bytes;
    return 0;
}

}  // namespace

class TestPlan : public QObject {
    Q_OBJECT

private slots:
    void weightsAddUpToTheFile() {
        for (const char* name : {"llama", "qwen3moe", "gemma3", "deepseek2", "falcon", "gpt_oss"}) {
            const model::Description d = describe(name);
            uint64_t in_file = 0, in_plan = 0;
            for (const auto& tensor : d.file->tensors()) in_file += tensor.bytes;
            const Plan plan = placement::plan(d, nullptr, {&roomy, 1}, {});
            for (const auto& part : plan.parts)
                if (part.what != "KV cache" && part.what != "scratch" && part.what != "logits") in_plan += part.bytes;
            QCOMPARE(in_plan, in_file);
        }
    }

    /// Formats §5.4: positions × layers × key/value heads × (key + value width) × bytes.
    void cacheByTheFormula() {
        const model::Description d = describe("llama");
        const auto& s = d.shapes[0];
        const Plan half = placement::plan(d, nullptr, {&roomy, 1}, {.ctx = 100});
        QCOMPARE(partBytes(half, "KV cache"),
                 uint64_t{100} * d.layers * s.kv_heads * (s.key_width + s.value_width) * 2);
        const Plan full = placement::plan(d, nullptr, {&roomy, 1}, {.ctx = 100, .kv = cpu::KvType::f32});
        QCOMPARE(partBytes(full, "KV cache"), 2 * partBytes(half, "KV cache"));
    }

    void windowedLayersKeepTheirWindowOnly() {
        const model::Description d = describe("gemma3");
        const auto& s = d.shapes[0];
        uint64_t windowed = 0;
        for (const auto& shape : d.shapes) windowed += shape.windowed;
        QVERIFY(windowed > 0 && windowed < d.layers);
        const uint64_t ctx = 4096, batch = 64, cell = s.kv_heads * (s.key_width + s.value_width) * 2;
        const Plan plan = placement::plan(d, nullptr, {&roomy, 1}, {.ctx = ctx, .batch = batch});
        QCOMPARE(partBytes(plan, "KV cache"), cell * ((d.layers - windowed) * ctx + windowed * (d.window + batch)));
    }

    void expertsCountByTheirUse() {
        const model::Description d = describe("qwen3moe");
        const Plan plan = placement::plan(d, nullptr, {&roomy, 1}, {});
        uint64_t want = 0;
        for (const auto& tensor : d.file->tensors()) {
            if (tensor.name.find("_exps") != std::string::npos) want += tensor.bytes * d.experts.used / d.experts.count;
            else if (tensor.name == "token_embd.weight") want += tensor.bytes / tensor.rows();
            else want += tensor.bytes;
        }
        QCOMPARE(plan.bytes_per_token, want);
    }

    void contextGoesAsFarAsMemory() {
        model::Description d = describe("llama");
        d.context = 1 << 20;
        const Plan all = placement::plan(d, nullptr, {&roomy, 1}, {});
        QCOMPARE(all.ctx, uint32_t{1} << 20);
        Device tight = roomy;
        tight.bytes_free = 32 << 20;
        const Plan some = placement::plan(d, nullptr, {&tight, 1}, {});
        QVERIFY(some.ctx < all.ctx && some.ctx >= 512);
        QVERIFY(some.bytes("cpu") <= tight.bytes_free);
        QVERIFY(QString::fromStdString(some.limit).contains("context"));
        Device tiny = roomy;
        tiny.bytes_free = 1000;
        QVERIFY(QString::fromStdString(placement::plan(d, nullptr, {&tiny, 1}, {}).limit).startsWith("main memory"));
    }

    /// A token reads the weights and the keys and values of the positions that it looks back on.
    void speedFollowsTheMeasuredBandwidth() {
        const model::Description d = describe("llama");
        QCOMPARE(placement::plan(d, nullptr, {&roomy, 1}, {}).decode_tps, 0.0);
        Device measured = roomy;
        measured.read_bytes_per_s = 20e9;
        measured.layer_s = 1e-5;
        const auto& s = d.shapes[0];
        QVERIFY(d.file->find("output.weight") != nullptr);
        for (const uint32_t depth : {0u, 100u}) {
            const Plan plan = placement::plan(d, nullptr, {&measured, 1}, {.ctx = 128, .depth = depth});
            const double cache = double(depth) * d.layers * s.kv_heads * (s.key_width + s.value_width) * 2;
            const double want = 1 / ((double(plan.bytes_per_token) + cache) / 20e9 + d.layers * 1e-5);
            QVERIFY(std::abs(plan.decode_tps / want - 1) < 1e-9);
        }
    }

    void noProcessorIsAnError() {
        QVERIFY_THROWS_EXCEPTION(Error, placement::plan(describe("llama"), nullptr, {}, {}));
    }
};

QTEST_GUILESS_MAIN(TestPlan)
#include "test_plan.moc"
