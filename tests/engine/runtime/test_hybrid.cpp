#include <QTest>

#include <set>

#include "tests/engine/runtime/hybrid_models.h"
#include "tests/support/sanitizers.h"

using namespace hearth;
using test::Fixture, test::HybridSetup, test::nmse, test::otherTop;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t everything = uint64_t{48} << 20;

fs::path modelOf(const QString& json) { return fs::path(json.toStdString()).replace_extension(".gguf"); }

}  // namespace

/// Layers on an emulated device give the logits that the model must give.
class TestHybrid : public QObject {
    Q_OBJECT
private slots:
    void wholeModelOnADevice_data() { addModels(); }
    void wholeModelOnADevice() {
        QFETCH(QString, json);
        QFETCH(QString, name);
        const Fixture f(json.toStdString());
        const size_t count = std::min<size_t>(f.tokens.size(), 8);
        // PowerInfer's files were computed with their predictors.
        const sparse::Mode mode = name.startsWith("pwri") ? sparse::Mode::predict : sparse::Mode::automatic;
        const auto model = runtime::Model::load(
            modelOf(json),
            test::hybridOptions({.budgets = {{"emulated:0", everything}}, .sparse = mode, .split = placement::Split::layers, .ctx = f.context()}));
        for (const placement::LayerSplit& layer : model->plan().layers)
            QCOMPARE(layer.attention_device, std::string("emulated:0"));
        QCOMPARE(model->plan().output_device, std::string("emulated:0"));
        const auto tokens = std::span(f.tokens).first(count);
        const auto want = std::span(f.want).first(count * f.description->vocabulary);
        const auto sequence = model->newSequence();
        std::vector<float> got = test::logitsOf(*model, *sequence, tokens.first(count - 2), 4);
        const std::vector<float> single = test::logitsOf(*model, *sequence, tokens.last(2), 1);
        got.insert(got.end(), single.begin(), single.end());
        const double error = nmse(got, want);
        QVERIFY2(error <= test::hybridLimit(name), qPrintable(QString("NMSE %1").arg(error)));
        QCOMPARE(otherTop(got, want, f.description->vocabulary), size_t{0});
    }

    /// Whole layers on a device, the others with the processor: any budget gives the same logits, and is kept.
    void someLayersOnADevice() {
        const Fixture f(test::dataFolder() / "models" / "llama.json");
        const auto tokens = std::span(f.tokens).first(8);
        const auto want = std::span(f.want).first(tokens.size() * f.description->vocabulary);
        const uint64_t whole = load("llama", {{"emulated:0", everything}})->plan().bytes("emulated:0");
        std::set<size_t> seen;
        for (const uint64_t eighths : {0, 3, 5, 7, 8}) {
            const uint64_t budget = whole * eighths / 8;
            const auto model = load("llama", {{"emulated:0", budget}});
            const auto sequence = model->newSequence();
            QVERIFY2(model->allocatedOn("emulated:0") <= budget, qPrintable(QString::number(eighths)));
            seen.insert(layersOn(*model, "emulated:0"));
            const double error = nmse(test::logitsOf(*model, *sequence, tokens, 3), want);
            QVERIFY2(error <= test::hybridLimit("llama"), qPrintable(QString("%1/8: %2").arg(eighths).arg(error)));
        }
        QVERIFY(seen.contains(0) && seen.contains(f.description->layers) && seen.size() > 2);
    }

    /// Two devices that each hold a part: layer ranges, each within its own budget.
    void twoUnequalDevices() {
        const Fixture f(test::dataFolder() / "models" / "qwen2.json");
        const auto tokens = std::span(f.tokens).first(8);
        const uint64_t whole = load("qwen2", {{"emulated:0", everything}})->plan().bytes("emulated:0");
        const std::map<std::string, uint64_t> budgets{{"emulated:0", whole * 5 / 8}, {"emulated:1", whole * 3 / 4}};
        const auto model = load("qwen2", budgets);
        const auto sequence = model->newSequence();
        for (const auto& [name, budget] : budgets) {
            QVERIFY(layersOn(*model, name) > 0);
            QVERIFY(model->allocatedOn(name) <= budget);
        }
        const double error = nmse(test::logitsOf(*model, *sequence, tokens, 3),
                                  std::span(f.want).first(tokens.size() * f.description->vocabulary));
        QVERIFY2(error <= test::hybridLimit("qwen2"), qPrintable(QString::number(error)));
    }

    /// What the plan says is what the allocators count.
    void plannedIsAllocated_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("split");
        for (const char* name : {"llama", "llama_quants", "olmo3", "falcon", "opt_dense"})
            for (const auto split : {placement::Split::layers, placement::Split::neurons})
                QTest::addRow("%s %d", name, static_cast<int>(split)) << QString(name) << static_cast<int>(split);
    }
    void plannedIsAllocated() {
        QFETCH(QString, name);
        QFETCH(int, split);
        const auto model =
            load(name.toStdString(), {{"emulated:0", everything}}, static_cast<placement::Split>(split));
        const auto sequence = model->newSequence();
        const uint64_t planned = model->plan().bytes("emulated:0"), counted = model->allocatedOn("emulated:0");
        QVERIFY2(placement::within(planned, counted, 0.05),
                 qPrintable(QString("planned %1, counted %2").arg(planned).arg(counted)));
        // An allocator that lies by a tenth is found out.
        QVERIFY(!placement::within(planned, counted + counted / 10, 0.05));
    }

    /// Less memory is free than the plan was told: it shrinks, says so, and computes right.
    void anotherProgramTookMemory() {
        const Fixture f(test::dataFolder() / "models" / "llama.json");
        const uint64_t whole = load("llama", {{"emulated:0", everything}})->plan().bytes("emulated:0");
        runtime::LoadOptions options = test::hybridOptions({.budgets = {{"emulated:0", everything}}});
        options.open = [whole](std::string_view name) -> std::unique_ptr<gpu::Device> {
            return std::make_unique<gpu::emulated::EmulatedDevice>(
                gpu::emulated::Options{.name = std::string(name), .bytes = whole * 6 / 8});
        };
        const auto model = runtime::Model::load(test::dataFolder() / "models" / "llama.gguf", options);
        QVERIFY(!model->placementNotes().empty());
        QVERIFY(model->plan().bytes("emulated:0") < whole * 6 / 8);
        const auto sequence = model->newSequence();
        const auto tokens = std::span(f.tokens).first(6);
        const double error = nmse(test::logitsOf(*model, *sequence, tokens, 2),
                                  std::span(f.want).first(tokens.size() * f.description->vocabulary));
        QVERIFY2(error <= test::hybridLimit("llama"), qPrintable(QString::number(error)));
    }

    /// Forgetting tokens and computing others in their place, with a ring of cells and without.
    void rewinding_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"llama", "olmo3"}) QTest::newRow(name) << name;
    }
    void rewinding() {
        QFETCH(QString, name);
        const Fixture f(test::dataFolder() / "models" / (name.toStdString() + ".json"));
        const auto model = load(name.toStdString(), {{"emulated:0", everything}});
        const auto sequence = model->newSequence();
        const size_t v = f.description->vocabulary;
        std::vector<int32_t> other(f.tokens.begin(), f.tokens.begin() + 12);
        std::ranges::reverse(other.begin() + 4, other.end());
        test::logitsOf(*model, *sequence, other, 4);
        QCOMPARE(sequence->truncate(4), 4u);
        const auto got = test::logitsOf(*model, *sequence, std::span(f.tokens).subspan(4, 8), 3);
        const double error = nmse(got, std::span(f.want).subspan(4 * v, 8 * v));
        QVERIFY2(error <= test::hybridLimit(name), qPrintable(QString::number(error)));
    }

    /// What devices cannot do yet is the processor's, and the user is told.
    void experts() {
        const auto model = load("llama_moe", {{"emulated:0", everything}});
        QCOMPARE(layersOn(*model, "emulated:0"), size_t{0});
        QVERIFY(QString::fromStdString(model->placementNotes().at(0)).contains("experts"));
    }

private:
    static std::shared_ptr<runtime::Model> load(const std::string& name,
                                                const std::map<std::string, uint64_t>& budgets,
                                                placement::Split split = placement::Split::layers) {
        return runtime::Model::load(test::dataFolder() / "models" / (name + ".gguf"),
                                    test::hybridOptions({.budgets = budgets, .split = split}));
    }
    static size_t layersOn(const runtime::Model& model, const std::string& device) {
        return static_cast<size_t>(
            std::ranges::count(model.plan().layers, device, &placement::LayerSplit::attention_device));
    }
    /// Models that devices can serve.
    static void addModels() {
        test::addModelRows([](const QString& name) {
            for (const char* one : {"llama", "llama_f16", "llama_bf16", "llama_quants", "qwen2", "qwen3", "mistral3",
                                    "granite", "phi3", "phi3_short", "olmo2", "olmo3", "smollm3", "gemma2", "gemma3",
                                    "falcon", "falcon_7b", "nemotron", "arcee", "bamboo_dense", "opt_dense",
                                    "pwri_llama_q4_0"})
                if (name == one) return true;
            return false;
        });
    }
};

QTEST_GUILESS_MAIN(TestHybrid)
#include "test_hybrid.moc"
