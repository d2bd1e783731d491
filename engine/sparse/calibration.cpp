#include "engine/sparse/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "engine/base/error.h"

namespace hearth::sparse {

namespace {

const SidecarKind kKind{"calibration", 1};
constexpr uint32_t kPartVersion = 1;
constexpr std::string_view kSettings = "hearth.calibration.settings";

/// The three estimators by the names of their tensors.
struct Kind {
    std::string_view name;
    EstimatorView LayerView::*view;
    std::optional<Estimator> LayerFindings::*findings;
};
constexpr std::array kinds{Kind{"low_rank", &LayerView::low_rank, &LayerFindings::low_rank},
                           Kind{"look_ahead", &LayerView::look_ahead, &LayerFindings::look_ahead},
                           Kind{"bit_plane", &LayerView::bit_plane, &LayerFindings::bit_plane}};

std::string prefix(size_t layer) { return "blk." + std::to_string(layer) + "."; }

/// Reads a layer out of a file that nobody vouches for.
class LayerReader {
public:
    LayerReader(const gguf::File& file, size_t layer, const LayerSize& size)
        : file_(file), prefix_(prefix(layer)), size_(size) {}

    /// False: something does not fit; why() says what.
    bool read(LayerView& view) {
        for (const Kind& kind : kinds)
            if (!estimator(std::string(kind.name), view.*kind.view)) return false;
        if (!numbers("weights", view.weights)) return false;
        std::span<const float> figures;
        if (!floats("firing", 1, figures)) return false;
        if (!figures.empty()) view.firing = figures[0];
        return curve(view.thresholds);
    }
    const std::string& why() const { return why_; }

private:
    bool wrong(const std::string& name) {
        why_ = "its tensor " + prefix_ + name + " is not what it should be";
        return false;
    }

    /// A tensor of finite float32 values, if it is there.
    bool floats(const std::string& name, uint64_t count, std::span<const float>& values) {
        const gguf::Tensor* t = file_.find(prefix_ + name);
        if (t == nullptr) return true;
        if (t->type != gguf::Type::F32 || t->bytes != count * sizeof(float) ||
            reinterpret_cast<uintptr_t>(t->data) % alignof(float) != 0)
            return wrong(name);
        values = {reinterpret_cast<const float*>(t->data), count};
        return std::ranges::all_of(values, [](float v) { return std::isfinite(v); }) || wrong(name);
    }
    bool numbers(const std::string& name, std::span<const float>& values) {
        return floats(name, size_.neurons, values);
    }

    static bool isMatrix(const gguf::Tensor& t, uint64_t rows, uint64_t cols) {
        using gguf::Type;
        const bool weights = t.type == Type::Q2_0 || t.type == Type::Q4_0 || t.type == Type::Q8_0;
        return weights && t.n_dims == 2 && t.ne[0] == cols && t.ne[1] == rows;
    }

    bool estimator(const std::string& name, EstimatorView& view) {
        EstimatorView e;
        e.in = file_.find(prefix_ + name + ".in");
        e.out = file_.find(prefix_ + name + ".out");
        if (e.in == nullptr) return e.out == nullptr || wrong(name + ".out");
        const uint64_t rank = e.out != nullptr ? e.in->ne[1] : size_.neurons;
        if (!isMatrix(*e.in, rank, size_.width)) return wrong(name + ".in");
        if (e.out != nullptr && !isMatrix(*e.out, size_.neurons, rank)) return wrong(name + ".out");
        std::span<const float> figures;
        if (!numbers(name + ".cuts", e.cuts) || !numbers(name + ".spreads", e.spreads) ||
            !floats(name + ".figures", 2, figures))
            return false;
        if (e.cuts.empty() || e.spreads.empty() || figures.empty()) return wrong(name + ".cuts");
        e.lost = figures[0];
        e.flagged = figures[1];
        view = e;
        return true;
    }

    bool curve(std::vector<std::pair<float, float>>& points) {
        const gguf::Tensor* t = file_.find(prefix_ + "thresholds");
        if (t == nullptr) return true;
        std::span<const float> values;
        if (t->n_dims != 2 || t->ne[0] != 2 || t->ne[1] > 1024 || !floats("thresholds", 2 * t->ne[1], values))
            return wrong("thresholds");
        for (size_t k = 0; k < t->ne[1]; ++k) {
            points.emplace_back(values[2 * k], values[2 * k + 1]);
            if (k > 0 && (points[k].first < points[k - 1].first || points[k].second < points[k - 1].second))
                return wrong("thresholds");
        }
        return true;
    }

    const gguf::File& file_;
    std::string prefix_;
    LayerSize size_;
    std::string why_;
};

/// Adds tensors to a writer and keeps what they are made of until it has written.
class LayerWriter {
public:
    LayerWriter(gguf::Writer& writer, size_t layer) : writer_(writer), prefix_(prefix(layer)) {}

    void add(const LayerFindings& findings) {
        for (const Kind& kind : kinds)
            if (const std::optional<Estimator>& e = findings.*kind.findings) add(std::string(kind.name), *e);
        if (!findings.weights.empty()) add("weights", findings.weights);
        firing_ = findings.firing;
        add("firing", {&firing_, 1});
        if (findings.thresholds.empty()) return;
        for (const auto& [lost, cut] : findings.thresholds) curve_.insert(curve_.end(), {lost, cut});
        const uint64_t ne[] = {2, findings.thresholds.size()};
        writer_.addTensor(prefix_ + "thresholds", gguf::Type::F32, ne, std::as_bytes(std::span(curve_)));
    }

private:
    void add(const std::string& name, std::span<const float> values) {
        const uint64_t ne[] = {values.size()};
        writer_.addTensor(prefix_ + name, gguf::Type::F32, ne, std::as_bytes(values));
    }
    void add(const std::string& name, const Estimator::Matrix& matrix) {
        const uint64_t ne[] = {matrix.cols, matrix.rows};
        writer_.addTensor(prefix_ + name, matrix.type, ne, matrix.data);
    }
    void add(const std::string& name, const Estimator& e) {
        add(name + ".in", e.in);
        if (e.out.rows > 0) add(name + ".out", e.out);
        add(name + ".cuts", e.cuts);
        add(name + ".spreads", e.spreads);
        const std::array<float, 2>& figures = figures_.emplace_back(std::array{e.lost, e.flagged});
        add(name + ".figures", figures);
    }

    gguf::Writer& writer_;
    std::string prefix_;
    std::vector<float> curve_;
    float firing_ = 1;
    std::deque<std::array<float, 2>> figures_;
};

}  // namespace

float LayerView::thresholdFor(float lost_share) const {
    std::pair<float, float> before{0.0f, 0.0f};
    for (const std::pair<float, float>& point : thresholds) {
        if (lost_share <= point.first) {
            const float step = point.first - before.first;
            const float part = step > 0 ? (lost_share - before.first) / step : 1.0f;
            return before.second + part * (point.second - before.second);
        }
        before = point;
    }
    return before.second;
}

std::shared_ptr<const Calibration> Calibration::open(const std::string& identity, const Sidecars& sidecars,
                                                     std::span<const LayerSize> layers, std::string* why_not) {
    auto calibration = std::make_shared<Calibration>();
    calibration->file_ = sidecars.open(identity, kKind, why_not);
    if (!calibration->file_) return nullptr;
    for (size_t i = 0; i < layers.size(); ++i) {
        LayerReader reader(*calibration->file_, i, layers[i]);
        if (reader.read(calibration->layers_.emplace_back())) continue;
        if (why_not != nullptr) *why_not = reader.why();
        sidecars.remove(identity, kKind);
        return nullptr;
    }
    return calibration;
}

CalibrationParts::CalibrationParts(std::string identity, const Sidecars& sidecars, std::span<const LayerSize> layers,
                                   std::string settings)
    : identity_(std::move(identity)),
      sidecars_(sidecars),
      layers_(layers.begin(), layers.end()),
      settings_(std::move(settings)) {}

SidecarKind CalibrationParts::kindOf(size_t layer) const {
    return {"calibration-layer-" + std::to_string(layer), kPartVersion};
}

std::shared_ptr<const gguf::File> CalibrationParts::open(size_t layer) const {
    auto file = sidecars_.open(identity_, kindOf(layer));
    if (!file) return nullptr;
    const gguf::Value* settings = file->value(kSettings);
    if (settings == nullptr || settings->type() != gguf::ValueType::String || settings->string() != settings_)
        return nullptr;
    LayerView view;
    if (!LayerReader(*file, layer, layers_[layer]).read(view)) return nullptr;
    return file;
}

bool CalibrationParts::has(size_t layer) const { return open(layer) != nullptr; }

LayerView CalibrationParts::view(size_t layer, std::shared_ptr<const gguf::File>& keep) const {
    LayerView view;
    keep = open(layer);
    if (keep) LayerReader(*keep, layer, layers_[layer]).read(view);
    return view;
}

void CalibrationParts::write(size_t layer, const LayerFindings& findings) const {
    gguf::Writer writer(64);
    writer.set(kSettings, settings_);
    LayerWriter tensors(writer, layer);
    tensors.add(findings);
    sidecars_.write(identity_, kindOf(layer), writer);
}

void CalibrationParts::finish() const {
    gguf::Writer writer(64);
    writer.set(kSettings, settings_);
    std::vector<std::shared_ptr<const gguf::File>> parts;
    for (size_t i = 0; i < layers_.size(); ++i) {
        parts.push_back(open(i));
        if (!parts.back()) throw Error("cannot finish the calibration", "layer " + std::to_string(i) + " is missing",
                                       "Calibrate again");
        for (const gguf::Tensor& t : parts.back()->tensors())
            writer.addTensor(t.name, t.type, std::span(t.ne).first(t.n_dims), std::span(t.data, t.bytes));
    }
    sidecars_.write(identity_, kKind, writer);
    for (size_t i = 0; i < layers_.size(); ++i) sidecars_.remove(identity_, kindOf(i));
}

}  // namespace hearth::sparse
