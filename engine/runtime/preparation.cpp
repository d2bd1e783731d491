#include "engine/runtime/preparation.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/thread_pool.h"
#include "engine/model/forward.h"

namespace hearth::runtime {

namespace {

/// What zeros are counted on: ordinary prose of several kinds, so that one subject does not decide.
constexpr std::string_view kText =
    "The harbour was quiet when the ferry came in. Anna counted eleven passengers, two bicycles and a crate of apples, wrote "
    "the numbers into her book and looked at the clouds over the hills. Water boils at 100 degrees at sea level; higher up the "
    "air is thinner and it boils sooner, which is why beans take longer in the mountains. To sort a list, compare neighbours "
    "and exchange them until nothing is left to exchange. \"Will it rain?\" asked the captain. \"Before evening,\" she said.";
constexpr size_t kMostTokens = 128;

}  // namespace

bool Preparation::needed(const model::Description& d, sparse::Mode mode) {
    if (mode == sparse::Mode::off) return false;
    bool zeros = false;
    for (uint32_t i = 0; i < d.layers; ++i) zeros |= d.hasZeros(i) || mode == sparse::Mode::threshold;
    return zeros && (mode == sparse::Mode::automatic || !sparse::DownCopies::candidates(*d.file).empty());
}

Preparation::Preparation(const model::Description& description, const model::Weights& weights, sparse::Mode mode,
                         sparse::Sidecars sidecars, unsigned threads, Tokenizer tokenizer)
    : d_(description),
      weights_(weights),
      mode_(mode),
      sidecars_(std::move(sidecars)),
      threads_(threads),
      tokenizer_(std::move(tokenizer)) {}

Prepared Preparation::run(MakePrepared make, const std::stop_token& stop, const Progress& progress) {
    identity_ = sparse::identityOf(*d_.file);
    Prepared result;
    bool copies = true;
    if (mode_ == sparse::Mode::automatic) {
        const std::optional<sparse::ZeroCounts> counts = zeroCounts(make, stop);
        if (!counts) {   // nobody knows yet: what the file itself has by neuron runs by neuron, with the bits of `off`
            return result;
        }
        result.dense_layers.resize(d_.layers);
        copies = false;
        for (uint32_t i = 0; i < d_.layers; ++i) {
            result.dense_layers[i] = !counts->pays(i);
            copies |= d_.hasZeros(i) && counts->pays(i);
        }
    }
    if (copies && !sparse::DownCopies::candidates(*d_.file).empty()) getCopies(result, make, stop, progress);
    return result;
}

void Preparation::getCopies(Prepared& result, MakePrepared make, const std::stop_token& stop, const Progress& progress) {
    const auto open = [&](std::string* why) {
        if (auto copies = sparse::DownCopies::open(*d_.file, identity_, sidecars_, why, stop))
            result.copies = std::make_shared<const sparse::DownCopies>(std::move(*copies));
    };
    std::string why;
    open(&why);
    if (result.copies || make == MakePrepared::no) return;
    try {
        sparse::DownCopies::prepare(*d_.file, identity_, sidecars_, stop, [&](uint64_t done, uint64_t total) {
            if (progress) progress(static_cast<double>(done) / static_cast<double>(total));
        });
        open(&why);
    } catch (const Error& error) {
        d_.file->check();   // a damaged model is another matter
        result.problem = std::string("zeros are not skipped: ") + error.what();
    }
}

std::optional<sparse::ZeroCounts> Preparation::zeroCounts(MakePrepared make, const std::stop_token& stop) {
    auto counts = sparse::ZeroCounts::open(identity_, sidecars_, d_.layers,
                                           static_cast<uint32_t>(d_.architecture.activation));
    if (counts || make == MakePrepared::no) return counts;
    counts = count(stop);
    try {
        counts->write(identity_, sidecars_);
    } catch (const Error&) {   // they are counted again at the next start, with the same outcome
    }
    return counts;
}

/// One dense pass over a text that is always the same.
sparse::ZeroCounts Preparation::count(const std::stop_token& stop) {
    const std::vector<int32_t> tokens = countedTokens();
    const auto n = static_cast<uint32_t>(tokens.size());
    ThreadPool pool(threads_);
    pool.setStop(stop);
    model::Forward forward(d_, weights_, pool, n, n, sparse::Mode::off);
    model::Sequence sequence(d_, {.context = n, .batch = n});
    forward.measurements().countZeros(d_.layers);
    const model::Part part{&sequence, tokens, model::Part::Logits::none};
    forward.run({&part, 1}, {});
    sparse::ZeroCounts counts{static_cast<uint32_t>(d_.architecture.activation), {}, {}};
    for (const model::Measurements::Zeros& layer : forward.measurements().zeros()) {
        counts.zeros.push_back(layer.zeros);
        counts.all.push_back(layer.all);
    }
    return counts;
}

/// The text's tokens; for a file without a vocabulary, ids spread over all.
std::vector<int32_t> Preparation::countedTokens() {
    std::vector<int32_t> tokens;
    try {
        tokens = tokenizer_()->encode(kText, {.add_special = true, .parse_special = false});
    } catch (const Error&) {
        for (uint64_t i = 0; i < kMostTokens / 2; ++i)
            tokens.push_back(static_cast<int32_t>((i * 7919 + 13) % d_.vocabulary));
    }
    tokens.resize(std::min<size_t>({tokens.size(), kMostTokens, d_.context == 0 ? kMostTokens : d_.context}));
    return tokens;
}

}  // namespace hearth::runtime
