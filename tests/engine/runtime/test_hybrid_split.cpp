#include <QTest>

#include <thread>

#include "engine/gpu/kernels/all.h"
#include "engine/runtime/hybrid/device_steps.h"
#include "tests/engine/runtime/hybrid_models.h"
#include "tests/support/sanitizers.h"

using namespace hearth;
using test::Fixture, test::nmse;
using gpu::DevPtr, gpu::emulated::EmulatedDevice;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t everything = uint64_t{48} << 20;

/// The folder of a model: the project's own, else that of the larger fixtures; empty when it is in neither.
fs::path jsonOf(const std::string& name) {
    const fs::path larger = test::fixturesFolder();
    for (const fs::path& folder : {test::dataFolder() / "models", larger.empty() ? larger : larger / "models"})
        if (!folder.empty() && fs::exists(folder / (name + ".json"))) return folder / (name + ".json");
    return {};
}

/// A device whose hot halves end only when a latch is open, and that tells when they have.
class LatchedDevice : public EmulatedDevice {
public:
    LatchedDevice() : EmulatedDevice({.bytes = everything}) {
        latch_ = allocateMapped(4);
        open();
    }
    ~LatchedDevice() override {
        open();
        freeMapped(latch_);
    }
    void close() { __atomic_store_n(static_cast<uint32_t*>(latch_.host), 0, __ATOMIC_RELEASE); }
    void open() { __atomic_store_n(static_cast<uint32_t*>(latch_.host), 1, __ATOMIC_RELEASE); }
    bool hotHalfDone() { return done(hot_half_); }

    void launchKernel(gpu::StreamId stream, unsigned kernel, const gpu::Grid& grid, const void* arguments,
                      size_t bytes) override {
        EmulatedDevice::launchKernel(stream, kernel, grid, arguments, bytes);
        if (kernel == gpu::kernels::numberOf<gpu::kernels::Publish>(gpu::kernels::All()))
            gpu::launch(*this, stream, {}, gpu::kernels::AwaitFlag{DevPtr<const uint32_t>(latch_.device), 1});
    }
    void waitValue(gpu::StreamId stream, const void* mapped, uint32_t value) override {
        hot_half_ = record(stream);   // what is waited for is the processor's half
        EmulatedDevice::waitValue(stream, mapped, value);
    }

private:
    gpu::Mapped latch_;
    gpu::EventId hot_half_ = 0;
};

/// The processor's half as a test wants it.
class TestHalf : public model::ColdHalf {
public:
    explicit TestHalf(std::function<void()> body) : body_(std::move(body)) {}
    void coldNeurons(const model::ColdNeurons&, MatrixView<const float>, MatrixView<float> out) override {
        body_();
        for (size_t t = 0; t < out.rows; ++t) std::ranges::fill(out.rowSpan(t), 0.0f);
        ++calls;
    }
    int calls = 0;

private:
    std::function<void()> body_;
};

}  // namespace

/// Layers whose neurons are hot on a device and cold with the processor.
class TestHybridSplit : public QObject {
    Q_OBJECT
private slots:
    /// Any budget, any mode: the logits that the model must give, and the budget is kept. Pairs of model and mode with the
    /// budgets in turn.
    void placements_data() {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("mode");
        QTest::addColumn<int>("eighths");
        struct Cell {
            const char* model;
            sparse::Mode mode;
            const char* word;
        };
        using enum sparse::Mode;
        for (const Cell& cell : {Cell{"llama", automatic, "auto"}, Cell{"llama_quants", automatic, "auto"},
                                 Cell{"bamboo_dense", exact, "exact"}, Cell{"bamboo_dense", off, "off"},
                                 Cell{"opt_dense", exact, "exact"}, Cell{"pwri_llama_q4_0", predict, "predict"},
                                 Cell{"pwri_falcon_7b", predict, "predict"}}) {
            const fs::path json = jsonOf(cell.model);
            if (json.empty()) continue;
            for (const int eighths : {0, 2, 4, 5, 6, 7, 8})
                QTest::addRow("%s %s %d/8", cell.model, cell.word, eighths)
                    << QString::fromStdString(json.string()) << QString(cell.model) << static_cast<int>(cell.mode)
                    << eighths;
        }
    }
    void placements() {
        QFETCH(QString, json);
        QFETCH(QString, name);
        QFETCH(int, mode);
        QFETCH(int, eighths);
        const Fixture f(json.toStdString());
        const fs::path path = fs::path(json.toStdString()).replace_extension(".gguf");
        const auto sparse_mode = static_cast<sparse::Mode>(mode);
        const auto load = [&](uint64_t budget) {
            return runtime::Model::load(
                path, test::hybridOptions({.budgets = {{"emulated:0", budget}}, .sparse = sparse_mode, .batch = 4}));
        };
        const uint64_t budget = load(everything)->plan().bytes("emulated:0") * static_cast<uint64_t>(eighths) / 8;
        const auto model = load(budget);
        const auto sequence = model->newSequence();
        QVERIFY(model->allocatedOn("emulated:0") <= budget);
        const auto tokens = std::span(f.tokens).first(6);
        const size_t v = f.description->vocabulary;
        std::vector<float> got = test::logitsOf(*model, *sequence, tokens.first(4), 4);
        const std::vector<float> single = test::logitsOf(*model, *sequence, tokens.subspan(4), 1);
        got.insert(got.end(), single.begin(), single.end());
        const double error = nmse(got, std::span(f.want).first(6 * v));
        const double limit = std::max(test::hybridLimit(name), 1e-9);
        QVERIFY2(error <= limit, qPrintable(QString("NMSE %1, limit %2").arg(error).arg(limit)));
    }

    /// The budgets in between do cut layers.
    void layersAreCut() {
        for (const char* name : {"llama", "bamboo_dense"}) {
            const auto load = [&](uint64_t budget) {
                return runtime::Model::load(test::dataFolder() / "models" / (std::string(name) + ".gguf"),
                                            test::hybridOptions({.budgets = {{"emulated:0", budget}},
                                                                 .sparse = sparse::Mode::automatic,
                                                                 .batch = 4}));
            };
            const auto model = load(load(everything)->plan().bytes("emulated:0") * 6 / 8);
            bool cut = false;
            for (const placement::LayerSplit& layer : model->plan().layers)
                cut = cut || (layer.attention_device != "cpu" && layer.neurons > 0 && layer.feed_forward.size() == 2);
            QVERIFY2(cut, name);
        }
    }

    /// The hot half ends only after the processor's half has opened a latch: so the processor works while it runs.
    void theProcessorWorksWhileTheDeviceDoes() {
        LatchedDevice device;
        TestHalf half([&device] {
            QVERIFY(!device.hotHalfDone());   // it cannot have ended
            device.open();
        });
        device.close();
        runLayer(device, half);
        QCOMPARE(half.calls, 1);
    }

    /// The processor's half ends only after the hot half has: so the device works while the processor does.
    void theDeviceWorksWhileTheProcessorDoes() {
        LatchedDevice device;
        TestHalf half([&device] {
            while (!device.hotHalfDone()) std::this_thread::yield();   // a hang here is the failure
        });
        runLayer(device, half);
        QCOMPARE(half.calls, 1);
    }

    /// A processor's half that fails leaves the device free for the next pass.
    void aHalfThatFails() {
        LatchedDevice device;
        TestHalf fails([] { throw Error("cannot compute", "the test wants it so"); });
        QVERIFY_THROWS_EXCEPTION(Error, runLayer(device, fails));
        device.synchronize();
    }

private:
    /// One token through a layer half of whose neurons are hot.
    static void runLayer(gpu::Device& device, model::ColdHalf& half) {
        const Fixture f(test::dataFolder() / "models" / "llama.json");
        runtime::DeviceSteps steps(device, *f.description, *f.weights,
                                   {.batch = 2, .kv = cpu::KvType::f32, .layers = {{0, {64, 64}}}});
        model::Sequence sequence(*f.description, {.context = 32, .batch = 2, .kv = cpu::KvType::f32});
        steps.prepare(sequence);
        const model::TokenRow row{&sequence, 0};
        model::RopeTable rope(f.description->rope, f.weights->rope_factors);
        const std::vector<uint32_t> positions{0};
        rope.fill(positions);
        Matrix<float> x(1, f.description->width);
        std::ranges::fill(x.view().rowSpan(0), 0.5f);
        steps.begin({&row, 1}, rope, {}, half);
        steps.take(x.view());
        steps.layer(0);
        steps.give(x.view());
    }
};

QTEST_GUILESS_MAIN(TestHybridSplit)
#include "test_hybrid_split.moc"
