#include "app/cli/generation_arguments.h"

#include <cstdio>
#include <limits>
#include <random>

#include "app/cli/arguments.h"
#include "app/cli/files.h"
#include "engine/base/error.h"
#include "engine/sampling/json_schema.h"

namespace hearth::cli {
namespace {

/// An option for one field of the sampler's parameters that remembers being set.
template <typename T>
void addField(CLI::App& command, GenerationArguments& arguments, const std::string& flag,
              T sampling::Parameters::* field, const std::string& name, const std::string& text) {
    command
        .add_option_function<T>(
            flag,
            [&arguments, field, name](const T& value) {
                arguments.sampling.*field = value;
                arguments.set_by_user.insert(name);
            },
            text)
        ->group("Sampling");
}

void addSampling(CLI::App& command, GenerationArguments& arguments) {
    using P = sampling::Parameters;
    addField(command, arguments, "--temp", &P::temperature, "temperature",
             "Temperature; 0 = always the best token (default 0.8)");
    addField(command, arguments, "--top-k", &P::top_k, "top_k", "Only the best N tokens; 0 = all (default 40)");
    addField(command, arguments, "--top-p", &P::top_p, "top_p",
             "Only the best tokens that make up this probability (default 0.95)");
    addField(command, arguments, "--min-p", &P::min_p, "min_p",
             "Only tokens this likely, measured by the best (default 0.05)");
    addField(command, arguments, "--typical-p", &P::typical_p, "typical_p", "Locally typical sampling; 1 = off");
    addField(command, arguments, "--top-n-sigma", &P::top_n_sigma, "top_n_sigma",
             "Only tokens within N deviations of the best; -1 = off");
    addField(command, arguments, "--repeat-penalty", &P::penalty_repeat, "penalty_repeat",
             "Divides the logits of tokens seen before; 1 = off");
    addField(command, arguments, "--repeat-last-n", &P::penalty_last_n, "penalty_last_n",
             "Tokens that penalties look back; -1 = all (default 64)");
    addField(command, arguments, "--frequency-penalty", &P::penalty_frequency, "penalty_frequency",
             "Taken off for each time a token was seen");
    addField(command, arguments, "--presence-penalty", &P::penalty_presence, "penalty_presence",
             "Taken off once a token was seen");
    addField(command, arguments, "--dry-multiplier", &P::dry_multiplier, "dry_multiplier",
             "DRY: strength against repeated sequences; 0 = off");
    addField(command, arguments, "--dry-base", &P::dry_base, "dry_base", "DRY: growth with the length (default 1.75)");
    addField(command, arguments, "--dry-allowed-length", &P::dry_allowed_length, "dry_allowed_length",
             "DRY: sequences of this length are fine (default 2)");
    addField(command, arguments, "--xtc-probability", &P::xtc_probability, "xtc_probability",
             "XTC: how often the best tokens are left out; 0 = off");
    addField(command, arguments, "--xtc-threshold", &P::xtc_threshold, "xtc_threshold",
             "XTC: from this probability on (default 0.1)");
    addField(command, arguments, "--mirostat", &P::mirostat, "mirostat",
             "1 or 2: mirostat instead of all of these; 0 = off");
    addField(command, arguments, "--mirostat-tau", &P::mirostat_tau, "mirostat_tau", "Mirostat's target (default 5)");
    addField(command, arguments, "--mirostat-eta", &P::mirostat_eta, "mirostat_eta",
             "Mirostat's learning rate (default 0.1)");
    addField(command, arguments, "--seed", &P::seed, "seed",
             "The same seed gives the same answer (default: another each time)");
    command
        .add_option_function<std::string>(
            "--samplers",
            [&arguments](const std::string& text) {
                try {
                    arguments.sampling.sequence = sampling::parseSequence(text);
                } catch (const Error& error) {
                    refuseArgument("--samplers", error.what());
                }
                arguments.set_by_user.insert("sequence");
            },
            "Their order: penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature")
        ->group("Sampling");
}

std::shared_ptr<const sampling::Grammar> grammarOf(const GenerationArguments& arguments, const runtime::Model& model) {
    if (!arguments.grammar_file && !arguments.schema_file) return nullptr;
    const std::string text = arguments.grammar_file ? readFile(*arguments.grammar_file)
                                                    : sampling::grammarFromSchema(readFile(*arguments.schema_file));
    const sampling::VocabularyView vocabulary = model.vocabularyView();
    return sampling::Grammar::parse(text, &vocabulary);
}

std::vector<std::vector<sampling::Token>> dryBreakersOf(const runtime::Model& model) {
    return sampling::dryBreakers(
        sampling::defaultDryBreakers(), model.vocabularyView(),
        [&model](std::string_view text) { return model.tokenizer().encode(text, {.add_special = false}); });
}

}  // namespace

void addGenerationArguments(CLI::App& command, GenerationArguments& arguments) {
    command
        .add_option("-n,--max-tokens", arguments.max_tokens, "Most tokens of an answer; -1 = until it ends (default)")
        ->check(between(-1, std::numeric_limits<int64_t>::max()))
        ->type_name("N");
    command
        .add_option_function<std::string>(
            "--stop", [&arguments](const std::string& text) { arguments.stop.push_back(text); },
            "Ends the answer before this text; may be repeated")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->trigger_on_parse()
        ->expected(1);
    auto* grammar = command.add_option("--grammar", arguments.grammar_file, "A GBNF grammar that the answer follows")
                        ->type_name("FILE");
    command.add_option("--json-schema", arguments.schema_file, "A JSON Schema that the answer fulfils")
        ->type_name("FILE")
        ->excludes(grammar);
    command.add_flag_callback(
        "--shift", [&arguments] { arguments.overflow = runtime::Overflow::shift; },
        "When the context is full, forget its older half and go on (default: stop)");
    addSampling(command, arguments);
    command.parse_complete_callback([&arguments] {
        try {
            arguments.sampling.check();
        } catch (const Error& error) {
            refuseArgument("sampling", error.what());
        }
    });
}

runtime::GenerationOptions generationOptions(const GenerationArguments& arguments, runtime::Model& model) {
    runtime::GenerationOptions options;
    options.sampling = sampling::fromGguf(*model.description().file, arguments.sampling, arguments.set_by_user);
    if (!arguments.set_by_user.contains("seed")) options.sampling.seed = std::random_device()();
    if (options.sampling.dry_multiplier > 0) options.sampling.dry_breakers = dryBreakersOf(model);
    options.grammar = grammarOf(arguments, model);
    options.max_tokens = arguments.max_tokens;
    options.stop = arguments.stop;
    options.overflow = arguments.overflow;
    return options;
}

std::string endSentence(runtime::EndReason reason) {
    switch (reason) {
        case runtime::EndReason::max_tokens: return "The answer was cut at the token limit (-n).";
        case runtime::EndReason::context_full:
            return "The context is full. A longer one (--ctx) or --shift lets the answer go on.";
        case runtime::EndReason::stopped: return "Stopped.";
        default: return {};
    }
}

std::string speedSentence(const runtime::GenerationStatistics& s) {
    const auto rate = [](double tokens, double seconds) { return seconds > 0 ? tokens / seconds : 0.0; };
    const uint32_t computed = s.prompt_tokens - std::min(s.prompt_tokens, s.reused_tokens);
    char text[160];
    // The first token comes out of the prompt's last pass.
    std::snprintf(text, sizeof text, "%u tokens at %.1f tokens/s; prompt of %u tokens (%u known) at %.1f tokens/s",
                  s.generated_tokens, rate(s.generated_tokens > 0 ? s.generated_tokens - 1.0 : 0.0, s.decode_s),
                  s.prompt_tokens, s.reused_tokens, rate(computed, s.prefill_s));
    return text;
}

}  // namespace hearth::cli
