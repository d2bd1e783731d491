#include "app/cli/sparse_words.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace hearth::cli {
namespace {

using sparse::Mode, sparse::Predictor;

constexpr std::array<std::pair<std::string_view, Mode>, 5> modes{{{"auto", Mode::automatic},
                                                                  {"off", Mode::off},
                                                                  {"all", Mode::all},
                                                                  {"exact", Mode::exact},
                                                                  {"predict", Mode::predict}}};
constexpr std::array<std::pair<std::string_view, Predictor>, 5> predictors{{{"file", Predictor::file},
                                                                            {"lowrank", Predictor::low_rank},
                                                                            {"bitplane", Predictor::bit_plane},
                                                                            {"lookahead", Predictor::look_ahead},
                                                                            {"oracle", Predictor::oracle}}};

}  // namespace

const std::string sparse_words = "auto|exact|predict[=file|lowrank|bitplane|lookahead]|threshold=Q|off|all";

std::optional<sparse::Choice> parseSparse(std::string_view word) {
    for (const auto& [name, mode] : modes)
        if (word == name) return sparse::Choice(mode);
    const size_t sign = word.find('=');
    if (sign == word.npos) return std::nullopt;
    const std::string_view kind = word.substr(0, sign), value = word.substr(sign + 1);
    if (kind == "predict") {
        sparse::Choice choice(Mode::predict);
        for (const auto& [name, predictor] : predictors)
            if (value == name) {
                choice.predictor = predictor;
                return choice;
            }
    }
    if (kind == "threshold") {
        sparse::Choice choice(Mode::threshold);
        const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), choice.lost_share);
        if (code == std::errc() && end == value.data() + value.size() && choice.lost_share > 0 && choice.lost_share < 1)
            return choice;
    }
    return std::nullopt;
}

std::string sparseWord(const sparse::Choice& choice) {
    if (choice.mode == Mode::threshold) {
        char text[32];
        std::snprintf(text, sizeof text, "threshold=%g", static_cast<double>(choice.lost_share));
        return text;
    }
    std::string word;
    for (const auto& [name, mode] : modes)
        if (choice.mode == mode) word = name;
    if (choice.mode == Mode::predict)
        for (const auto& [name, predictor] : predictors)
            if (choice.predictor == predictor) word += "=" + std::string(name);
    return word;
}

}  // namespace hearth::cli
