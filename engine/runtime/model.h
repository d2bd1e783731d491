#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/model/forward.h"
#include "engine/placement/plan.h"
#include "engine/runtime/hybrid/open_device.h"
#include "engine/sampling/token_trie.h"
#include "engine/text/tokenizer.h"

namespace hearth::runtime {

class Hybrid;

struct LoadOptions {
    uint32_t ctx = 0;          ///< positions; 0 = the file's, as far as memory goes
    uint32_t batch = 512;      ///< most tokens of one pass
    cpu::KvType kv = cpu::KvType::f16;
    unsigned threads = 0;      ///< 0 = physical performance cores
    sparse::Mode sparse = sparse::Mode::automatic;
    std::optional<cpu::Activation> activation = std::nullopt;   ///< the user's word against the file's

    /// What may compute, the processor among them, as the planner wants it; empty = the processor alone.
    std::vector<placement::Device> devices = {};
    std::map<std::string, uint64_t> budget = {};   ///< placement::Options::budget
    std::vector<std::string> use = {};             ///< placement::Options::use
    placement::Split split = placement::Split::neurons;
    OpenDevice open = {};                          ///< instead of gpu::open(): tests bring devices of their own
};

/// A model file, opened, planned and ready to compute. Weights stay in the mapped file; nothing is read beforehand.
/// One pass at a time: whoever calls forward() sees to that.
class Model {
public:
    /// Throws Error in words for the user. Milliseconds; the tokenizer is built beside it (tokenizer() waits for it).
    /// Once `stop` asks, what is still being built ends: load() or the first tokenizer() throws Stopped.
    static std::shared_ptr<Model> load(const std::filesystem::path& path, const LoadOptions& options = {},
                                       const std::stop_token& stop = {});
    ~Model();

    /// Opens the file and says what it is and what it would need, without loading (for inspect and for lists of models).
    static placement::Plan planFor(const model::Description& description, const LoadOptions& options);

    const model::Description& description() const { return description_; }
    const placement::Plan& plan() const { return plan_; }
    const text::Tokenizer& tokenizer() const { return *tokenizer_.get(); }
    std::shared_ptr<const text::Tokenizer> sharedTokenizer() const { return tokenizer_.get(); }
    const text::Vocabulary& vocabulary() const { return tokenizer().vocabulary(); }
    uint32_t context() const { return plan_.ctx; }
    /// The vocabulary as grammars see it; its trie is built at the first use of a grammar.
    sampling::VocabularyView vocabularyView() const;
    std::shared_ptr<const sampling::TokenTrie> tokenTrie();
    ThreadPool& pool() { return pool_; }
    model::Forward& forward() { return *forward_; }
    std::unique_ptr<model::Sequence> newSequence() const;

    /// Sentences that the user should read: what is odd about the vocabulary.
    const std::vector<std::string>& warnings() const { return vocabulary().warnings(); }
    /// Sentences about where the model ended up, when that is not what was asked for.
    const std::vector<std::string>& placementNotes() const { return placement_notes_; }
    /// Bytes that were allocated on a graphics device for this model and its sequences.
    uint64_t allocatedOn(std::string_view device) const;

private:
    Model(std::shared_ptr<const gguf::File> file, LoadOptions options, const std::stop_token& stop);
    void placeOnDevices();

    model::Description description_;
    std::vector<std::string> placement_notes_;
    LoadOptions options_;
    placement::Plan plan_;
    model::Weights weights_;
    ThreadPool pool_;
    std::unique_ptr<Hybrid> hybrid_;   ///< null: the processor computes all
    std::unique_ptr<model::Forward> forward_;
    std::stop_source build_stop_;   ///< asked by whoever loads, and by ~Model, so that nobody waits for an unused tokenizer
    std::stop_callback<std::function<void()>> stop_build_;
    std::shared_future<std::shared_ptr<const text::Tokenizer>> tokenizer_;
    std::shared_ptr<const sampling::TokenTrie> token_trie_;
};

}  // namespace hearth::runtime
