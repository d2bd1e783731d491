#include <QtTest>
#include <cmath>

#include "engine/base/error.h"
#include "engine/placement/device_file.h"
#include "tests/support/predictions.h"

using namespace hearth;
using placement::Device;
using placement::Options;
using placement::Plan;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

placement::ModelShape shape(const char* id) { return placement::readShape(test::placementFile("models.json"), id); }

const Device processor{
    .name = "cpu", .bytes_total = 256 * gib, .bytes_free = 256 * gib, .read_bytes_per_s = 55e9, .flops = 1e12};

Device card(const char* name, uint64_t bytes, double gb_s = 900) {
    return {.name = name,
            .kind = placement::Kind::cuda,
            .bytes_total = bytes,
            .bytes_free = bytes,
            .read_bytes_per_s = gb_s * 1e9,
            .flops = 1e14,
            .handover_s = 12e-6,
            .copy_bytes_per_s = 25e9,
            .context_bytes = 360'000'000};
}

Plan planFor(const placement::ModelShape& model, const std::vector<Device>& devices, const Options& options) {
    return placement::plan(model.description, model.activity, devices, options);
}

uint64_t bytesOf(const Plan& plan, const std::string& what, const std::string& device) {
    uint64_t bytes = 0;
    for (const auto& part : plan.parts)
        if (part.what == what && part.device == device) bytes += part.bytes;
    return bytes;
}

bool isWeight(const std::string& what) {
    return what != "KV cache" && what != "scratch" && what != "logits" && what != "staging" && what != "driver";
}

}  // namespace

class TestDevices : public QObject {
    Q_OBJECT

private slots:
    /// The promise: not one byte more than the budget, and nothing lost or doubled on the way.
    void budgetsAreKept() {
        for (const char* id :
             {"relullama-7b", "bamboo-7b", "turbosparse-mixtral-47b", "gpt-oss-120b", "smallthinker-21b"}) {
            const placement::ModelShape model = shape(id);
            uint64_t in_file = 0;
            for (const auto& t : model.description.file->tensors()) in_file += t.bytes;
            for (const auto mode : {sparse::Mode::off, sparse::Mode::exact, sparse::Mode::predict})
                for (const auto split : {placement::Split::neurons, placement::Split::blocks, placement::Split::layers})
                    for (const uint64_t budget :
                         {uint64_t{0}, uint64_t{100} << 20, 3 * gib + 12345, 9 * gib, 40 * gib}) {
                        const std::vector<Device> devices{processor, card("cuda:0", 60 * gib)};
                        const Plan plan =
                            planFor(model, devices,
                                    {.ctx = 4096, .sparse = mode, .budget = {{"cuda:0", budget}}, .split = split});
                        QVERIFY2(plan.bytes("cuda:0") <= budget, id);
                        uint64_t weights = 0;
                        for (const auto& part : plan.parts)
                            if (isWeight(part.what)) weights += part.bytes;
                        const uint64_t slack = model.description.file->tensors().size() * 256;
                        QVERIFY2(weights >= in_file && weights <= in_file + slack, id);
                    }
        }
    }

    void moreIsNeverSlower() {
        for (const char* id : {"relullama-70b", "mixtral-8x7b", "opt-175b"}) {
            const placement::ModelShape model = shape(id);
            double last = 0;
            for (int half = 0; half <= 48; ++half) {
                const Plan plan =
                    planFor(model, {processor, card("cuda:0", 24 * gib)},
                            {.ctx = 2048, .sparse = sparse::Mode::exact, .budget = {{"cuda:0", half * gib / 2}}});
                QVERIFY2(plan.decode_tps >= last, id);
                QVERIFY(plan.tps_per_gib >= 0);
                last = plan.decode_tps;
            }
        }
    }

    /// What one more GiB brings is what a plan with one more GiB has.
    void oneMoreGib() {
        const placement::ModelShape model = shape("relullama-13b");
        const auto with = [&](uint64_t budget) {
            return planFor(model, {processor, card("cuda:0", 24 * gib)}, {.ctx = 1024, .budget = {{"cuda:0", budget}}});
        };
        const double gain = with(5 * gib).decode_tps - with(4 * gib).decode_tps;
        QVERIFY(gain > 0);
        QVERIFY(std::abs(with(4 * gib).tps_per_gib - gain) < 1e-9 * gain);
        QCOMPARE(with(20 * gib).tps_per_gib, 0.0);
    }

    void whatFitsIsWhollyThere() {
        const placement::ModelShape model = shape("llama-3.1-8b");
        const Plan plan = planFor(model, {processor, card("cuda:0", 24 * gib)}, {.ctx = 8192});
        for (const auto& layer : plan.layers) {
            QCOMPARE(layer.attention_device, std::string("cuda:0"));
            QCOMPARE(layer.kv_device, std::string("cuda:0"));
            QCOMPARE(layer.feed_forward.at("cuda:0"), 1.0);
        }
        QCOMPARE(plan.output_device, std::string("cuda:0"));
        // A token reads each weight once but for the embedding, and keys and values of 512 positions.
        const double cache = 512.0 * 32 * 8 * 128 * 2 * 2;
        double weights = 0;
        for (const auto& t : model.description.file->tensors())
            if (t.name != "token_embd.weight") weights += double(t.bytes);
        QVERIFY(std::abs(plan.decode_tps * ((weights + cache) / 900e9 + 24e-6) - 1) < 1e-3);
    }

    void withoutACutEveryLayerIsWhole() {
        const placement::ModelShape model = shape("relullama-13b");
        const std::vector<Device> devices{processor, card("cuda:0", 6 * gib)};
        const Options options{.ctx = 1024, .sparse = sparse::Mode::predict};
        const auto cut = [](const Plan& plan) {
            return std::ranges::any_of(plan.layers, [](const auto& l) { return l.feed_forward.size() > 1; });
        };
        QVERIFY(cut(planFor(model, devices, options)));
        Options whole = options;
        whole.split = placement::Split::blocks;
        QVERIFY(!cut(planFor(model, devices, whole)));
    }

    void fewestDevicesThatHoldIt() {
        const placement::ModelShape model = shape("relullama-7b");
        const std::vector<Device> devices{processor, card("cuda:0", 3 * gib), card("cuda:1", 8 * gib, 300),
                                          card("cuda:2", 10 * gib, 600)};
        const Plan one = planFor(model, devices, {.ctx = 1024});
        QCOMPARE(one.bytes("cuda:0"), uint64_t{0});
        QCOMPARE(one.bytes("cuda:1"), uint64_t{0});   // holds it too, but reads half as fast
        QVERIFY(one.bytes("cuda:2") > 4 * gib);
        const Plan chosen = planFor(model, devices, {.ctx = 1024, .use = {"cuda:1"}});
        QVERIFY(chosen.bytes("cuda:1") > 4 * gib);
        QCOMPARE(chosen.bytes("cuda:2"), uint64_t{0});
    }

    void severalDevicesServeRanges() {
        const placement::ModelShape model = shape("relullama-13b");
        const std::vector<Device> devices{processor, card("cuda:0", 5 * gib), card("cuda:1", 4 * gib, 450)};
        const Plan plan = planFor(model, devices, {.ctx = 1024});
        QVERIFY(plan.bytes("cuda:0") > 4 * gib && plan.bytes("cuda:0") <= 5 * gib - placement::free_margin);
        QVERIFY(plan.bytes("cuda:1") > 3 * gib && plan.bytes("cuda:1") <= 4 * gib - placement::free_margin);
        bool second = false;
        for (const auto& layer : plan.layers) {
            second = second || layer.attention_device == "cuda:1";
            QVERIFY(!second || layer.attention_device != "cuda:0");
        }
        QVERIFY(second);
        const Plan less = planFor(model, {devices[0], devices[1]}, {.ctx = 1024});
        QVERIFY(plan.decode_tps > less.decode_tps);
    }

    /// A long context that is hardly used has few reads per byte: it stays in main memory, and comes over when it is read.
    void cacheIsAnItemLikeAnyOther() {
        const placement::ModelShape model = shape("llama-3.1-8b");
        const std::vector<Device> devices{processor, card("cuda:0", 5 * gib)};
        const Plan idle = planFor(model, devices, {.ctx = 65536, .depth = 64});
        QCOMPARE(bytesOf(idle, "KV cache", "cuda:0"), uint64_t{0});
        QVERIFY(bytesOf(idle, "attention", "cuda:0") > 0);
        const Plan busy = planFor(model, {processor, card("cuda:0", 12 * gib)}, {.ctx = 65536, .depth = 65536});
        QVERIFY(bytesOf(busy, "KV cache", "cuda:0") > 5 * gib);
    }

    void tiedOutputNeedsACopy() {
        const placement::ModelShape model = shape("opt-175b");
        const Plan plan =
            planFor(model, {processor, card("cuda:0", 200 * gib)}, {.ctx = 1024, .sparse = sparse::Mode::exact});
        const uint64_t embedding = model.description.file->require("token_embd.weight").bytes;
        QCOMPARE(plan.output_device, std::string("cuda:0"));
        QVERIFY(bytesOf(plan, "output", "cuda:0") >= embedding);
        QVERIFY(bytesOf(plan, "embedding", "cpu") >= embedding);
    }

    void quickIsNearlyAsGood() {
        for (const char* id : {"relullama-70b", "gpt-oss-120b"}) {
            const placement::ModelShape model = shape(id);
            Options options{.ctx = 2048, .sparse = sparse::Mode::exact};
            const std::vector<Device> devices{processor, card("cuda:0", 24 * gib)};
            const double exact = planFor(model, devices, options).decode_tps;
            options.effort = placement::Effort::greedy;
            const double greedy = planFor(model, devices, options).decode_tps;
            QVERIFY2(greedy <= exact && greedy >= 0.97 * exact, id);
        }
    }

    void prefillGoesToTheCard() {
        const placement::ModelShape model = shape("llama-3.3-70b");
        const double alone = planFor(model, {processor}, {.ctx = 2048}).prefill_tps;
        const double helped = planFor(model, {processor, card("cuda:0", 12 * gib)}, {.ctx = 2048}).prefill_tps;
        // 512 tokens of 2 · 70.6e9 operations at 1e12 a second.
        QVERIFY(std::abs(alone / (1e12 / (2 * 69.5e9)) - 1) < 0.02);
        QVERIFY(helped > 10 * alone);
    }

    void strangersAreRefused() {
        const placement::ModelShape model = shape("relullama-7b");
        QVERIFY_THROWS_EXCEPTION(Error, planFor(model, {processor}, {.budget = {{"cuda:0", gib}}}));
        QVERIFY_THROWS_EXCEPTION(Error, planFor(model, {processor}, {.use = {"cuda:7"}}));
        QVERIFY_THROWS_EXCEPTION(
            Error, placement::plan(model.description, std::vector<placement::Activity>(3), {&processor, 1}, {}));
    }

    void withoutSpeedsPlacesButPromisesNothing() {
        const placement::ModelShape model = shape("relullama-13b");
        Device silent = card("emulated:0", 5 * gib);
        silent.read_bytes_per_s = 0;
        const Plan plan = planFor(model, {processor, silent}, {.ctx = 1024});
        QVERIFY(plan.bytes("emulated:0") > 3 * gib);
        QCOMPARE(plan.decode_tps, 0.0);
    }

    void describedCards() {
        const auto file = placement::DeviceFile::read(test::placementFile("devices.json"));
        const Device ampere = file.named("rtx3060");
        QCOMPARE(ampere.bytes_total, 12 * gib);
        QVERIFY(ampere.read_bytes_per_s < 360e9 && ampere.read_bytes_per_s > 0.8 * 360e9);
        for (const char* name : {"rtx2080ti", "rtx4090", "rtx5090", "pc-high", "pc-low"}) file.named(name);
        QVERIFY_THROWS_EXCEPTION(Error, file.named("rtx9090"));
        Device here = card("cuda:0", 24 * gib, 0);
        file.giveSpeeds(here, "NVIDIA GeForce RTX 4090");
        QCOMPARE(here.read_bytes_per_s, file.named("rtx4090").read_bytes_per_s);
        for (const char* other :
             {"NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 3060 Ti", "NVIDIA H200", ""}) {
            Device unknown = card("cuda:0", 24 * gib, 0);
            file.giveSpeeds(unknown, other);
            QCOMPARE(unknown.read_bytes_per_s, 0.0);
        }
    }
};

QTEST_GUILESS_MAIN(TestDevices)
#include "test_devices.moc"
