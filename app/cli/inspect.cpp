#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "engine/base/size.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"
#include "engine/model/activation.h"
#include "engine/cpu/isa.h"
#include "engine/text/vocabulary.h"

namespace hearth::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string path;
    runtime::LoadOptions load;
    bool json = false;
};

/// Bytes of all tensors by type, largest first.
Json typesOf(const gguf::File& file) {
    std::map<std::string_view, uint64_t> bytes;
    for (const gguf::Tensor& t : file.tensors()) bytes[gguf::typeInfo(t.type).name] += t.bytes;
    std::vector<std::pair<std::string_view, uint64_t>> sorted(bytes.begin(), bytes.end());
    std::ranges::sort(sorted, std::greater(), &std::pair<std::string_view, uint64_t>::second);
    Json types = Json::object();
    for (const auto& [name, n] : sorted) types[std::string(name)] = n;
    return types;
}

Json parametersOf(const gguf::File& file) {
    uint64_t values = 0;
    for (const gguf::Tensor& t : file.tensors()) values += t.ne[0] * t.rows();
    return values;
}

void describeFile(const gguf::File& file, Json& report) {
    report["name"] = file.string("general.name").value_or(file.path().stem().string());
    report["file"] = file.path().string();
    report["format"] = file.isPowerInfer() ? "PowerInfer (PWRI)" : "GGUF";
    report["version"] = file.version();
    report["files"] = file.shards().size();
    report["bytes"] = file.fileBytes();
    report["architecture"] = file.string("general.architecture").value_or("");
    if (const auto licence = file.string("general.license")) report["licence"] = *licence;
    report["tensors"] = file.tensors().size();
    report["parameters"] = parametersOf(file);
    report["types"] = typesOf(file);
    report["template"] = file.value("tokenizer.chat_template") != nullptr;
}

void describeVocabulary(const std::shared_ptr<const gguf::File>& file, Json& report, Json& warnings) {
    const text::Vocabulary vocabulary(file);
    report["vocabulary"] = {
        {"tokens", vocabulary.size()}, {"kind", text::kindName(vocabulary.kind())}, {"split", vocabulary.pre()}};
    for (const std::string& warning : vocabulary.warnings()) warnings.push_back(warning);
}

void describeModel(const Arguments& arguments, const std::shared_ptr<const gguf::File>& file, Json& report) {
    const model::Description d = model::Description::read(file);
    report["layers"] = d.layers;
    report["width"] = d.width;
    report["context"] = d.context;
    report["activation"] = model::activationName(d.architecture.activation);
    if (d.experts.count > 0) report["experts"] = {{"count", d.experts.count}, {"used", d.experts.used}};
    if (d.window > 0) report["window"] = d.window;
    const placement::Plan plan = runtime::Model::planFor(d, arguments.load);
    Json memory = Json::object();
    uint64_t total = 0;
    for (const placement::Part& part : plan.parts) {
        memory[part.what] = part.bytes;
        total += part.bytes;
    }
    report["memory"] = {{"context", plan.ctx}, {"parts", memory}, {"total", total}};
    report["bytes_per_token"] = plan.bytes_per_token;
    report["limit"] = plan.limit;
}

void line(std::string& text, std::string_view name, const std::string& value) {
    char label[24];
    std::snprintf(label, sizeof label, "  %-16s", std::string(name).c_str());
    text += label + value + "\n";
}

std::string formatParameters(uint64_t n) {
    const double value = static_cast<double>(n);
    char text[32];
    if (n >= 1'000'000'000) std::snprintf(text, sizeof text, "%.2f billion", value / 1e9);
    else if (n >= 1'000'000) std::snprintf(text, sizeof text, "%.1f million", value / 1e6);
    else std::snprintf(text, sizeof text, "%.0f", value);
    return text;
}

std::string formatTypes(const Json& types) {
    uint64_t total = 0;
    for (const auto& [name, bytes] : types.items()) total += bytes.get<uint64_t>();
    std::string text;
    for (const auto& [name, bytes] : types.items()) {
        char share[64];
        std::snprintf(share, sizeof share, "%s %.1f %%", name.c_str(),
                      100 * static_cast<double>(bytes.get<uint64_t>()) / static_cast<double>(total));
        text += (text.empty() ? "" : ", ") + std::string(share);
    }
    return text;
}

std::string shapeOf(const Json& r) {
    std::string text = r["architecture"].get<std::string>();
    if (r.contains("layers"))
        text += ", " + std::to_string(r["layers"].get<uint64_t>()) + " layers of width " +
                std::to_string(r["width"].get<uint64_t>());
    if (r.contains("experts"))
        text += ", " + std::to_string(r["experts"]["used"].get<uint64_t>()) + " of " +
                std::to_string(r["experts"]["count"].get<uint64_t>()) + " experts a token";
    return text;
}

std::string describeVocabularyLine(const Json& v) {
    if (v["tokens"] == 0) return "none";
    const std::string split = v["split"];
    return std::to_string(v["tokens"].get<uint64_t>()) + " tokens, " + v["kind"].get<std::string>() +
           (split.empty() ? "" : " (" + split + ")");
}

std::string asText(const Json& r) {
    std::string text = r["name"].get<std::string>() + "\n";
    line(text, "file",
         r["file"].get<std::string>() +
             (r["files"] > 1 ? " and " + std::to_string(r["files"].get<uint64_t>() - 1) + " more" : ""));
    line(text, "format",
         r["format"].get<std::string>() + " version " + std::to_string(r["version"].get<uint64_t>()) + ", " +
             formatSize(r["bytes"]));
    if (!r["architecture"].get<std::string>().empty()) line(text, "architecture", shapeOf(r));
    if (r["tensors"] == 0) line(text, "weights", "none: the file holds a vocabulary only");
    else line(text, "weights", formatParameters(r["parameters"]) + " parameters; by bytes " + formatTypes(r["types"]));
    if (r.contains("context"))
        line(text, "context",
             std::to_string(r["context"].get<uint64_t>()) + " tokens" +
                 (r.contains("window") ? ", some layers see the last " + std::to_string(r["window"].get<uint64_t>())
                                       : ""));
    if (r.contains("vocabulary")) line(text, "vocabulary", describeVocabularyLine(r["vocabulary"]));
    line(text, "chat template", r["template"].get<bool>() ? "yes" : "no");
    line(text, "licence", r.contains("licence") ? r["licence"].get<std::string>() : "not said");
    line(text, "instructions", r["isa"].get<std::string>());
    if (r.contains("memory")) {
        text += "\nMemory with a context of " + std::to_string(r["memory"]["context"].get<uint64_t>()) + " tokens\n";
        for (const auto& [what, bytes] : r["memory"]["parts"].items()) line(text, what, formatSize(bytes));
        line(text, "together", formatSize(r["memory"]["total"]));
        line(text, "read a token", formatSize(r["bytes_per_token"]));
        text += "\nThe limit is " + r["limit"].get<std::string>() + ".\n";
    }
    for (const auto& warning : r["warnings"]) text += "\nWarning: " + warning.get<std::string>() + "\n";
    return text;
}

void show(const Json& report, bool json) {
    print(json ? report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : withoutControls(asText(report)));
}

void inspect(const Arguments& arguments) {
    const auto file = gguf::File::open(arguments.path);
    Json report, warnings = Json::array();
    describeFile(*file, report);
    describeVocabulary(file, report, warnings);
    if (!file->tensors().empty()) describeModel(arguments, file, report);
    report["isa"] = cpu::isaName(cpu::activeIsa());
    report["warnings"] = warnings;
    file->check();
    show(report, arguments.json);
}

}  // namespace

void addInspect(CLI::App& app) {
    auto* command = app.add_subcommand("inspect", "Say what a model file is and what it would need");
    auto arguments = std::make_shared<Arguments>();
    addModelPath(*command, arguments->path);
    addContext(*command, arguments->load);
    addJson(*command, arguments->json);
    command->callback([arguments] { inspect(*arguments); });
}

}  // namespace hearth::cli
