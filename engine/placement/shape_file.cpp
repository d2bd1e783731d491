#include "engine/placement/shape_file.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/gguf/writer.h"
#include "engine/placement/json_file.h"

namespace hearth::placement {
namespace {

using nlohmann::json;

struct Experts {
    uint32_t count = 0, used = 0, width = 0;
    gguf::Type type = gguf::Type::Q4_0;
};

gguf::Type typeNamed(const std::string& name) {
    const auto type = gguf::typeByName(name);
    if (!type) throw Error("cannot use this model shape", "there is no weight type \"" + name + "\"");
    return *type;
}

/// Writes the header of the file that a model of this shape would have.
class HeaderMaker {
public:
    explicit HeaderMaker(const json& shape)
        : shape_(shape),
          architecture_(shape.at("architecture").get<std::string>()),
          layers_(shape.at("layers").get<uint32_t>()),
          width_(shape.at("width").get<uint32_t>()),
          heads_(shape.at("heads").get<uint32_t>()),
          kv_heads_(shape.value("kv_heads", heads_)),
          head_width_(shape.value("head_width", heads_ > 0 ? width_ / heads_ : 0)),
          feed_forward_(shape.value("feed_forward", 0u)),
          vocabulary_(shape.at("vocabulary").get<uint32_t>()),
          type_(typeNamed(shape.value("type", "Q4_0"))) {
        if (shape.contains("experts")) {
            const json& e = shape.at("experts");
            experts_ = {e.at("count").get<uint32_t>(), e.at("used").get<uint32_t>(), e.at("width").get<uint32_t>(),
                        typeNamed(e.value("type", std::string(gguf::typeInfo(type_).name)))};
        }
        if (layers_ > 512) throw Error("cannot use this model shape", "it has more than 512 layers");
    }

    std::shared_ptr<const gguf::File> file() {
        writeKeys();
        writer_.addTensor("token_embd.weight", type_, dims({width_, vocabulary_}), nothing());
        for (uint32_t i = 0; i < layers_; ++i) writeLayer("blk." + std::to_string(i) + ".");
        if (const model::Architecture* a = model::findArchitecture(architecture_); a != nullptr && a->learned_positions)
            matrix("position_embd.weight", width_, shape_.value("context", 2048u) + a->position_offset,
                   gguf::Type::F16);
        vector("output_norm.weight", width_);
        if (!shape_.value("tied", false))
            matrix("output.weight", width_, vocabulary_,
                   typeNamed(shape_.value("output_type", std::string(gguf::typeInfo(type_).name))));
        const uint64_t size = writer_.fileBytes();
        return gguf::File::fromMemory(writer_.header(), size);
    }

private:
    using Dims = std::vector<uint64_t>;
    static Dims dims(std::initializer_list<uint64_t> d) { return d; }
    static gguf::Writer::Source nothing() {
        return [](const gguf::Writer::Sink&) {};
    }

    void matrix(const std::string& name, uint64_t cols, uint64_t rows, gguf::Type type) {
        writer_.addTensor(name, type, dims({cols, rows}), nothing());
    }
    void matrix(const std::string& name, uint64_t cols, uint64_t rows) { matrix(name, cols, rows, type_); }
    void vector(const std::string& name, uint64_t size) {
        writer_.addTensor(name, gguf::Type::F32, dims({size}), nothing());
    }

    void writeKeys() {
        const auto count = [&](const char* key, uint32_t value) { writer_.set(architecture_ + "." + key, value); };
        writer_.set("general.architecture", architecture_);
        writer_.set("general.name", shape_.value("name", architecture_));
        count("block_count", layers_);
        count("embedding_length", width_);
        count("context_length", shape_.value("context", 2048u));
        count("attention.head_count", heads_);
        count("attention.head_count_kv", kv_heads_);
        count("attention.key_length", head_width_);
        count("attention.value_length", head_width_);
        if (feed_forward_ > 0) count("feed_forward_length", feed_forward_);
        if (shape_.contains("window")) count("attention.sliding_window", shape_.at("window").get<uint32_t>());
        if (shape_.contains("activation"))
            writer_.set(architecture_ + ".hidden_activation", shape_.at("activation").get<std::string>());
        if (experts_.count > 0) {
            count("expert_count", experts_.count);
            count("expert_used_count", experts_.used);
            count("expert_feed_forward_length", experts_.width);
        }
    }

    bool rowPerNeuron() const {
        const std::string act = shape_.value("activation", "");
        const model::Architecture* a = model::findArchitecture(architecture_);
        const auto zeros = [](cpu::Activation one) {
            return one == cpu::Activation::relu || one == cpu::Activation::relu2 || one == cpu::Activation::drelu;
        };
        return act.empty() ? a != nullptr && zeros(a->activation) : act == "relu" || act == "relu2" || act == "drelu";
    }

    void writeLayer(const std::string& p) {
        vector(p + "attn_norm.weight", width_);
        matrix(p + "attn_q.weight", width_, uint64_t{heads_} * head_width_);
        matrix(p + "attn_k.weight", width_, uint64_t{kv_heads_} * head_width_);
        matrix(p + "attn_v.weight", width_, uint64_t{kv_heads_} * head_width_);
        matrix(p + "attn_output.weight", uint64_t{heads_} * head_width_, width_);
        vector(p + "ffn_norm.weight", width_);
        if (experts_.count > 0) return writeExperts(p);
        if (shape_.value("gated", true)) matrix(p + "ffn_gate.weight", width_, feed_forward_);
        matrix(p + "ffn_up.weight", width_, feed_forward_);
        if (rowPerNeuron()) matrix(p + "ffn_down_t.weight", width_, feed_forward_);
        else matrix(p + "ffn_down.weight", feed_forward_, width_);
        if (const uint32_t rank = shape_.value("predictor_rank", 0u); rank > 0) {
            matrix(p + "fc1.weight", width_, rank);
            matrix(p + "fc2.weight", rank, feed_forward_);
        }
    }

    void writeExperts(const std::string& p) {
        const auto stack = [&](const char* name, uint64_t cols, uint64_t rows) {
            writer_.addTensor(p + name, experts_.type, dims({cols, rows, experts_.count}), nothing());
        };
        writer_.addTensor(p + "ffn_gate_inp.weight", gguf::Type::F32, dims({width_, experts_.count}), nothing());
        stack("ffn_gate_exps.weight", width_, experts_.width);
        stack("ffn_up_exps.weight", width_, experts_.width);
        if (rowPerNeuron()) stack("ffn_down_exps.weight", width_, experts_.width);
        else stack("ffn_down_exps.weight", experts_.width, width_);
    }

    const json& shape_;
    std::string architecture_;
    uint32_t layers_, width_, heads_, kv_heads_, head_width_, feed_forward_, vocabulary_;
    gguf::Type type_;
    Experts experts_;
    gguf::Writer writer_;
};

double share(const json& shape, const char* key, double absent) {
    const double value = shape.value(key, absent);
    if (!(value > 0 && value <= 1))
        throw Error("cannot use this model shape", std::string(key) + " is not a share above 0 and at most 1");
    return value;
}

std::vector<Activity> activityOf(const json& shape, const model::Description& d) {
    std::vector<Activity> all = assumedActivity(d);
    std::vector<std::pair<int64_t, Curve>> curves;
    if (const auto curve = shape.find("curve"); curve != shape.end()) {
        if (curve->is_number()) curves.emplace_back(0, Curve::power(curve->get<double>()));
        else
            for (const json& one : *curve)
                curves.emplace_back(one.at("layer").get<int64_t>(),
                                    Curve::through(one.at("points").get<std::vector<std::pair<double, double>>>()));
    }
    for (size_t i = 0; i < all.size(); ++i) {
        Activity& a = all[i];
        a.active = share(shape, "active", a.active);
        a.flagged = share(shape, "flagged", std::min(1.0, flagged_per_active * a.active));
        int64_t nearest = -1;
        for (const auto& [layer, curve] : curves) {
            const int64_t distance = std::abs(layer - static_cast<int64_t>(i));
            if (nearest >= 0 && distance >= nearest) continue;
            nearest = distance;
            a.curve = curve;
        }
    }
    return all;
}

ModelShape shapeFrom(const json& shape) {
    ModelShape result;
    result.id = shape.value("id", "");
    result.name = shape.value("name", result.id);
    result.description = model::Description::read(HeaderMaker(shape).file());
    result.activity = activityOf(shape, result.description);
    return result;
}

}  // namespace

std::vector<ModelShape> readShapes(const std::filesystem::path& path) {
    const json file = readJsonFile(path);
    return withJsonErrors(path, [&] {
        std::vector<ModelShape> shapes;
        if (!file.is_array()) shapes.push_back(shapeFrom(file));
        else
            for (const json& one : file) shapes.push_back(shapeFrom(one));
        return shapes;
    });
}

ModelShape readShape(const std::filesystem::path& path, const std::string& id) {
    std::vector<ModelShape> shapes = readShapes(path);
    if (id.empty() && shapes.size() == 1) return std::move(shapes[0]);
    std::string names;
    for (ModelShape& shape : shapes) {
        if (!id.empty() && shape.id == id) return std::move(shape);
        names += (names.empty() ? "" : ", ") + shape.id;
    }
    throw Error("cannot find the model shape \"" + id + "\"", path.string() + " has no such shape", "It has: " + names);
}

}  // namespace hearth::placement
