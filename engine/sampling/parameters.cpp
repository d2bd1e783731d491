#include "engine/sampling/parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/gguf/file.h"

namespace hearth::sampling {
namespace {

struct StepInfo {
    Step step;
    std::string_view name, other_name;
    char letter;
};

constexpr std::array<StepInfo, 10> steps{{
    {Step::Penalties, "penalties", "repetition_penalty", 'e'},
    {Step::Dry, "dry", "dry", 'd'},
    {Step::TopNSigma, "top_n_sigma", "top_nsigma", 's'},
    {Step::TopK, "top_k", "top-k", 'k'},
    {Step::Typical, "typ_p", "typical", 'y'},
    {Step::TopP, "top_p", "top-p", 'p'},
    {Step::MinP, "min_p", "min-p", 'm'},
    {Step::Xtc, "xtc", "xtc", 'x'},
    {Step::Temperature, "temperature", "temp", 't'},
    {Step::AdaptiveP, "adaptive_p", "adaptive-p", 'a'},
}};

const std::string what = "cannot use the sampling settings";

void checkNumber(const char* name, double value, double low, double high = std::numeric_limits<double>::max()) {
    if (value >= low && value <= high) return;   // a NaN fails too
    throw Error(what, std::string(name) + " is " + std::to_string(value), "Choose a value in its range");
}

Step stepByName(std::string_view name) {
    for (const StepInfo& info : steps)
        if (info.name == name || info.other_name == name) return info.step;
    std::string known;
    for (const StepInfo& info : steps) known += (known.empty() ? "" : ", ") + std::string(info.name);
    throw Error(what, "there is no sampler called \"" + std::string(name) + "\"", "Known are: " + known);
}

}  // namespace

std::string_view stepName(Step step) {
    return std::find_if(steps.begin(), steps.end(), [&](const StepInfo& info) { return info.step == step; })->name;
}

void Parameters::check() const {
    constexpr double lowest = std::numeric_limits<double>::lowest();
    checkNumber("penalty_last_n", penalty_last_n, -1);
    checkNumber("penalty_repeat", penalty_repeat, std::numeric_limits<double>::min());
    checkNumber("penalty_frequency", penalty_frequency, lowest);
    checkNumber("penalty_presence", penalty_presence, lowest);
    checkNumber("dry_multiplier", dry_multiplier, 0);
    checkNumber("dry_base", dry_base, 0);
    checkNumber("dry_allowed_length", dry_allowed_length, 0);
    checkNumber("dry_last_n", dry_last_n, -1);
    checkNumber("top_n_sigma", top_n_sigma, lowest);
    checkNumber("typical_p", typical_p, 0);
    checkNumber("top_p", top_p, 0);
    checkNumber("min_p", min_p, lowest, 1);
    checkNumber("min_keep", min_keep, 0);
    checkNumber("xtc_probability", xtc_probability, 0, 1);
    checkNumber("xtc_threshold", xtc_threshold, 0);
    checkNumber("temperature", temperature, lowest);
    checkNumber("dynatemp_range", dynatemp_range, 0);
    checkNumber("dynatemp_exponent", dynatemp_exponent, 0);
    checkNumber("mirostat", mirostat, 0, 2);
    checkNumber("mirostat_tau", mirostat_tau, 0);
    checkNumber("mirostat_eta", mirostat_eta, 0);
    checkNumber("mirostat_m", mirostat_m, 2);
    checkNumber("adaptive_target", adaptive_target, lowest, 1);
    checkNumber("adaptive_decay", adaptive_decay, 0, 0.99);
    for (const auto& [token, bias] : logit_bias)
        if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity())
            throw Error(what, "the logit bias of token " + std::to_string(token) + " is not a number",
                        "Use a number, or -inf to ban the token");
    for (size_t i = 0; i < sequence.size(); ++i)
        if (std::find(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(i), sequence[i]) !=
            sequence.begin() + static_cast<std::ptrdiff_t>(i))
            throw Error(what, "the sampler " + std::string(stepName(sequence[i])) + " stands twice in the sequence",
                        "Name each sampler once");
}

std::vector<Step> parseSequence(std::string_view text) {
    std::vector<Step> sequence;
    const bool one_name = std::any_of(
        steps.begin(), steps.end(), [&](const StepInfo& info) { return info.name == text || info.other_name == text; });
    if (!one_name && text.find_first_of(";,") == std::string_view::npos) {
        for (const char letter : text) {
            const auto info =
                std::find_if(steps.begin(), steps.end(), [&](const StepInfo& s) { return s.letter == letter; });
            if (info == steps.end()) return {stepByName(text)};   // throws, naming the whole text
            sequence.push_back(info->step);
        }
        return sequence;
    }
    while (!text.empty()) {
        const size_t end = std::min(text.find_first_of(";,"), text.size());
        std::string_view name = text.substr(0, end);
        while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
        while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
        if (!name.empty()) sequence.push_back(stepByName(name));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return sequence;
}

Parameters fromGguf(const gguf::File& file, Parameters p, const std::set<std::string>& set_by_user) {
    const auto number = [&](const char* key, const char* field, auto& target) {
        if (set_by_user.contains(field)) return;
        const auto value = file.number(std::string("general.sampling.") + key);
        if (!value) return;
        using Target = std::remove_reference_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, double>) {
            target = *value;
        } else {
            checkNumber(field, *value, std::numeric_limits<Target>::min(), std::numeric_limits<Target>::max());
            target = static_cast<Target>(*value);
        }
    };
    number("top_k", "top_k", p.top_k);
    number("top_p", "top_p", p.top_p);
    number("min_p", "min_p", p.min_p);
    number("xtc_probability", "xtc_probability", p.xtc_probability);
    number("xtc_threshold", "xtc_threshold", p.xtc_threshold);
    number("temp", "temperature", p.temperature);
    number("penalty_last_n", "penalty_last_n", p.penalty_last_n);
    number("penalty_repeat", "penalty_repeat", p.penalty_repeat);
    number("mirostat", "mirostat", p.mirostat);
    number("mirostat_tau", "mirostat_tau", p.mirostat_tau);
    number("mirostat_eta", "mirostat_eta", p.mirostat_eta);
    if (!set_by_user.contains("sequence"))
        if (const auto text = file.string("general.sampling.sequence")) p.sequence = parseSequence(*text);
    p.check();
    return p;
}

std::vector<std::vector<Token>> dryBreakers(const std::vector<std::string>& texts, const VocabularyView& vocabulary,
                                            const std::function<std::vector<Token>(std::string_view)>& tokenize) {
    std::vector<std::vector<Token>> breakers;
    for (size_t i = 0; i < vocabulary.size; ++i) {
        const auto token = static_cast<Token>(i);
        const std::string bytes = vocabulary.bytes(token);
        if (std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
                return !text.empty() && bytes.find(text) != std::string::npos;
            }))
            breakers.push_back({token});
    }
    if (tokenize)
        for (const std::string& text : texts)
            if (auto tokens = tokenize(text); tokens.size() > 1) breakers.push_back(std::move(tokens));
    return breakers;
}

std::vector<std::string> defaultDryBreakers() { return {"\n", ":", "\"", "*"}; }

}  // namespace hearth::sampling
