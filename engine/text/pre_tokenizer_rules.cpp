#include "engine/text/pre_tokenizer_rules.h"

#include <algorithm>

namespace hearth::text {

namespace {

using std::string;

const string kSuffixes = R"((?i:'s|'t|'re|'ve|'m|'ll|'d))";
const string kSpaceTail = R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
const string kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
const string kAsciiMarks = R"([\p{P}\$\+<=>\^~\|`]+)";
const string kThreeDigits = "[0-9][0-9][0-9]";
const string kCjk = R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)";

string llama3(const string& numbers) {
    return kSuffixes + R"(|[^\r\n\p{L}\p{N}]?\p{L}+|)" + numbers + R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)" + kSpaceTail;
}

/// Words split where an upper-case letter follows lower-case ones. `upper`, `lower`: the two classes of letters.
string cased(const string& upper, const string& lower, const string& suffix, const string& numbers,
             const string& tail) {
    const string lead = R"([^\r\n\p{L}\p{N}]?)";
    return lead + upper + "*" + lower + "+" + suffix + "|" + lead + upper + "+" + lower + "*" + suffix + "|" + numbers +
           R"(| ?[^\s\p{L}\p{N}]+)" + tail + kSpaceTail;
}

const string kUpper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])", kLower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";
const string kGpt4o = cased(kUpper, kLower, kSuffixes + "?", R"(\p{N}{1,3})", R"([\r\n/]*)");

/// The cased letters that DeepSeek LLM's tokenizer lists (Unicode 11's, as far as its authors took them).
const string kDeepseekLetters =
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293}\x{295}-\x{2af})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1}\x{3a3}-\x{3f5})"
    R"(\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{10a0}-\x{10c5}\x{13a0}-\x{13f5}\x{13f8}-\x{13fd})"
    R"(\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a}\x{1e00}-\x{1f15})"
    R"(\x{1f18}-\x{1f1d}\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b}\x{1f5d}\x{1f5f}-\x{1f7d})"
    R"(\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}\x{1fc6}-\x{1fcc}\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb})"
    R"(\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4}\x{1ff6}-\x{1ffc}\x{2102}\x{2107}\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d})"
    R"(\x{2124}\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134}\x{2139}\x{213c}-\x{213f}\x{2145}-\x{2149}\x{214e})"
    R"(\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4}\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d})"
    R"(\x{a680}-\x{a69b}\x{a722}-\x{a76f}\x{a771}-\x{a787}\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06})"
    R"(\x{fb13}-\x{fb17}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{10400}-\x{1044f}\x{104b0}-\x{104d3}\x{104d8}-\x{104fb})"
    R"(\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df}\x{1e900}-\x{1e943}]+)";

std::vector<SplitRule> makeRules() {
    std::vector<SplitRule> rules;
    const auto add = [&rules](std::vector<std::string_view> names, std::vector<string> passes,
                              SplitTraits traits = {}) {
        rules.push_back({std::move(names), std::move(passes), traits});
    };
    add({"default"}, {kAsciiMarks, kGpt2, R"(\p{N}+)", kThreeDigits}, {.cleans_spaces = true});
    add({"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
        {llama3(R"(\p{N}{1,3})")}, {.ignore_merges = true, .add_bos = true});
    add({"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {llama3(R"(\p{N}{1,3})")});
    add({"qwen2", "deepseek-r1-qwen", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2", "kormo"},
        {llama3(R"(\p{N})")});
    add({"qwen35"},
        {kSuffixes + R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" + kSpaceTail});
    add({"gpt-2", "gpt2", "phi-2", "mpt", "olmo", "jais", "exaone4", "gigachat", "modern-bert", "mellum", "a.x-4.0",
         "trillion", "granite-docling"},
        {kGpt2}, {.cleans_spaces = true});
    add({"roberta-bpe", "jina-v1-en", "jina-v2-es", "jina-v2-de", "jina-v2-code"}, {kGpt2},
        {.add_sep = true, .cleans_spaces = true});
    add({"smollm", "starcoder", "codeshell", "exaone", "minerva-7b", "mellum2"}, {R"(\p{N})", kGpt2},
        {.cleans_spaces = true});
    add({"refact", "command-r"}, {R"(\p{N})", kGpt2});
    add({"falcon"}, {kAsciiMarks, kGpt2, kThreeDigits}, {.cleans_spaces = true});
    add({"deepseek-llm"}, {R"([\r\n])", kDeepseekLetters,
                           R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)",
                           string(kTrailingSpacePass), kCjk, R"(\p{N}+)"});
    add({"deepseek-coder"}, {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kCjk, R"(\p{N})"});
    add({"deepseek-v3", "hunyuan-dense", "joyai-llm"},
        {R"(\p{N}{1,3})", R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)",
         R"([!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)" + kSpaceTail});
    add({"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {kGpt4o});
    add({"tekken"}, {cased(kUpper, kLower, "", R"(\p{N})", R"([\r\n/]*)")}, {.ignore_merges = true, .add_bos = true});
    add({"tiny_aya", "cohere2moe"}, {string(kDigitGroupsPass), kGpt4o});
    add({"seed-coder"}, {kSuffixes + R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)" + kSpaceTail});
    add({"bailingmoe", "bailingmoe2", "llada-moe"},
        {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"});
    const string bloom = R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c})]+)";
    add({"bloom", "poro-chat", "gpt3-finnish"}, {bloom});
    add({"viking"}, {bloom, R"(\p{N})"});
    add({"superbpe"}, {R"(\p{N}+)", string(kDigitBordersPass)});
    const string not_han = R"(&&[^\p{sc:Han}]])";   // the script itself: PCRE2's \p{Han} takes its extensions too
    add({"kimi-k2"}, {R"([\p{sc:Han}]+|)" + cased("[" + kUpper + not_han, "[" + kLower + not_han, kSuffixes + "?",
                                                  R"(\p{N}{1,3})", R"([\r\n]*)")});
    add({"minicpm5"}, {R"(\p{N}{1,3})", llama3(R"(\p{N}+)")}, {.ignore_merges = true});
    add({"gemma4", "sarvam-moe", "granite-embed-multi-311m"}, {R"([^\n]+|[\n]+)"});
    return rules;
}

}  // namespace

std::span<const SplitRule> splitRules() {
    static const std::vector<SplitRule> rules = makeRules();
    return rules;
}

const SplitRule* findSplitRule(std::string_view name) {
    for (const SplitRule& rule : splitRules()) {
        if (std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end()) return &rule;
    }
    return nullptr;
}

}  // namespace hearth::text
