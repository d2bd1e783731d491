#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/model/forward.h"
#include "engine/placement/plan.h"
#include "engine/runtime/hybrid/open_device.h"
#include "engine/runtime/preparation.h"
#include "engine/sampling/token_trie.h"
#include "engine/text/tokenizer.h"

namespace hearth::runtime {

class Hybrid;

struct LoadOptions {
    uint32_t ctx = 0;          ///< positions; 0 = the file's, as far as memory goes
    uint32_t batch = 512;      ///< most tokens of one pass
    cpu::KvType kv = cpu::KvType::f16;
    unsigned threads = 0;      ///< 0 = physical performance cores
    sparse::Choice sparse = {};
    std::optional<cpu::Activation> activation = std::nullopt;   ///< the user's word against the file's
    float relu_threshold = 0;     ///< model::Description::relu_threshold
    bool count_neurons = false;   ///< neurons that fire are counted and added to the model's profile (keepProfile())
    sparse::Sidecars sidecars = sparse::Sidecars();   ///< where calibrations and profiles are looked for

    /// What may compute, the processor among them, as the planner wants it; empty = the processor alone.
    std::vector<placement::Device> devices = {};
    std::map<std::string, uint64_t> budget = {};   ///< placement::Options::budget
    std::vector<std::string> use = {};             ///< placement::Options::use
    placement::Split split = placement::Split::neurons;
    placement::Effort effort = placement::Effort::exact;   ///< for planFor(): greedy while something is dragged
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

    /// What loading would do, without loading (for inspect, for lists of models, for sliders).
    /// `profile` may be nullptr.
    static placement::Plan planFor(const model::Description& description, const LoadOptions& options,
                                   const sparse::Profile* profile = nullptr);

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

    /// Gets what a sparse mode needs beside the file (preparation.h) and uses it. What cannot be made is said in a sentence
    /// (empty: nothing to say), and the layers run dense. Not while an answer is under way. Throws Stopped.
    std::string prepare(MakePrepared make, const std::stop_token& stop = {}, const Preparation::Progress& progress = {});
    /// The same by a thread of its own, which ends with the model. What it brings is used from the next answer on that begins
    /// while no other is under way: never inside one.
    void prepareInBackground();
    /// Why the background brought less than it should, once; empty if there is nothing to say.
    std::string takePreparationProblem();
    /// Share of the background's work that is done, in [0, 1]; nullopt when there is none (any more). From any thread.
    std::optional<double> preparing() const;
    /// While the returned object lives, what the model computes with does not change. For each answer, by the thread that
    /// calls forward().
    std::shared_ptr<void> beginAnswer();

    const model::Weights& weights() const { return weights_; }
    /// Which model this is (sparse/sidecar.h); read from the file at the first call. Throws Error.
    const std::string& identity() const;
    const sparse::Sidecars& sidecars() const { return options_.sidecars; }
    /// Reads the model's calibration, if there is a right one, for modes that need it; else false, and `why_not` says why.
    bool usePredictors(std::string* why_not = nullptr);
    /// The neurons counted since the last call (LoadOptions::count_neurons) are added to the model's profile on the disk.
    /// Throws Error.
    void keepProfile();
    /// The profile on the disk, if there is one that fits the model.
    std::optional<sparse::Profile> profile() const;
    std::unique_ptr<model::Sequence> newSequence() const;

    /// Sentences about where the model ended up, when that is not what was asked for.
    const std::vector<std::string>& placementNotes() const { return placement_notes_; }
    /// Bytes that were allocated on a graphics device for this model and its sequences.
    uint64_t allocatedOn(std::string_view device) const;

    /// Sentences that the user should read: what is odd about the vocabulary, what was guessed about the activation.
    std::vector<std::string> warnings() const;

private:
    Model(std::shared_ptr<const gguf::File> file, LoadOptions options, const std::stop_token& stop);
    void placeOnDevices();
    void requirePredictors();

    Preparation preparation(unsigned threads);
    void use(Prepared prepared);

    model::Description description_;
    std::vector<std::string> placement_notes_;
    LoadOptions options_;
    placement::Plan plan_;
    model::Weights weights_;
    ThreadPool pool_;
    std::unique_ptr<Hybrid> hybrid_;   ///< null: the processor computes all
    std::unique_ptr<model::Forward> forward_;
    std::shared_ptr<void> answers_ = std::make_shared<int>();   ///< a copy for each answer under way
    mutable std::mutex prepared_mutex_;
    std::optional<Prepared> prepared_;   ///< ready, not yet used
    std::string prepared_problem_;
    std::atomic<double> prepared_share_ = -1;
    mutable std::string identity_;
    sparse::Profile counted_;
    std::stop_source build_stop_;   ///< asked by whoever loads, and by ~Model, so that nobody waits for an unused tokenizer
    std::stop_callback<std::function<void()>> stop_build_;
    std::shared_future<std::shared_ptr<const text::Tokenizer>> tokenizer_;
    std::shared_ptr<const sampling::TokenTrie> token_trie_;
    std::jthread preparing_;   ///< ends before anything that it reads
};

}  // namespace hearth::runtime
