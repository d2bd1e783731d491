#pragma once

#include <QFileInfo>
#include <QMutex>
#include <atomic>

#include "engine/base/error.h"
#include "ui/worker/machine.h"

namespace hearth::test {

/// A machine with a card of 6 GiB that nothing executes on, and models of four layers that share themselves out by budget:
/// as many quarters go to the card as it has GiB.
class FakeMachine : public ui::Machine {
public:
    static constexpr quint64 gib = quint64{1} << 30;

    ui::ModelFacts read(const QString& path) override {
        ++reads;
        const QString name = QFileInfo(path).completeBaseName();
        if (name.contains(QStringLiteral("broken"))) throw Error("cannot open " + name.toStdString(), "it is no model");
        ui::ModelFacts facts;
        facts.name = name;
        facts.files = {path};
        facts.architecture = QStringLiteral("llama");
        facts.quant = QStringLiteral("Q4_0");
        facts.bytes = static_cast<quint64>(QFileInfo(path).size());
        facts.parameters = 7'000'000'000;
        facts.context = 4096;
        facts.layers = 4;
        if (name.contains(QStringLiteral("sparse"))) facts.sparsity = ui::ModelFacts::Zeros;
        return facts;
    }

    QList<ui::DeviceFacts> devices() override {
        return {{.name = QStringLiteral("cpu"),
                 .description = {},
                 .bytes_total = 16 * gib,
                 .bytes_free = 12 * gib,
                 .computes = true,
                 .why_not = {},
                 .threads = 4},
                {.name = QStringLiteral("emulated:0"),
                 .description = QStringLiteral("a card of the test"),
                 .bytes_total = 6 * gib,
                 .bytes_free = 6 * gib,
                 .graphics = true,
                 .why_not = {}},
                {.name = QStringLiteral("emulated:1"),
                 .description = QStringLiteral("another"),
                 .bytes_total = 4 * gib,
                 .bytes_free = 4 * gib,
                 .graphics = true,
                 .why_not = {}},
                {.name = QStringLiteral("cuda:0"),
                 .description = QStringLiteral("an old card"),
                 .bytes_total = 2 * gib,
                 .bytes_free = 1 * gib,
                 .graphics = true,
                 .why_not = QStringLiteral("its driver is too old")}};
    }

    ui::Prediction predict(const QString& path, const ui::PlacementChoices& choices, Effort effort,
                           bool executed) override {
        ++predictions;
        if (effort == Quick) ++quick;
        {
            const QMutexLocker lock(&mutex);
            asked = choices;
        }
        const QString cpu = QStringLiteral("cpu"), card = QStringLiteral("emulated:0");
        const quint64 budget = choices.budgets.value(card, 6 * gib);
        const int moved =
            executed || choices.unused.contains(card) ? 0 : static_cast<int>(std::min<quint64>(budget / gib, 4));
        ui::Prediction p;
        p.ctx = choices.ctx > 0 ? choices.ctx : 4096;
        for (int layer = 0; layer < 4; ++layer) {
            const QString& at = layer < moved ? card : cpu;
            p.layers.push_back({at, at, {{at, 1.0}}});
        }
        if (moved < 4) p.parts << ui::PlannedPart{QStringLiteral("feed-forward"), cpu, (4 - moved) * gib};
        if (moved > 0) p.parts << ui::PlannedPart{QStringLiteral("feed-forward"), card, moved * gib};
        p.parts << ui::PlannedPart{QStringLiteral("KV cache"), cpu, gib / 2};
        p.decode_tps = 10 + 10 * moved;
        p.graphics_share = moved / 4.0;
        p.fit = moved == 4 ? ui::Prediction::FullGpu : moved > 0 ? ui::Prediction::Hybrid : ui::Prediction::Cpu;
        if (path.contains(QStringLiteral("huge"))) p.fit = ui::Prediction::TooBig;
        p.limit = QStringLiteral("the bandwidth of main memory");
        return p;
    }

    void measure() override { ++measurements; }

    ui::PlacementChoices lastAsked() {
        const QMutexLocker lock(&mutex);
        return asked;
    }

    std::atomic<int> reads = 0, predictions = 0, quick = 0, measurements = 0;

private:
    QMutex mutex;
    ui::PlacementChoices asked;
};

}  // namespace hearth::test
