#include "engine/runtime/model.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/model/activation.h"
#include "engine/model/predictors.h"

namespace hearth::runtime {

using text::Token;

namespace {

model::Description describe(std::shared_ptr<const gguf::File> file, const LoadOptions& options) {
    model::Description description = model::Description::read(std::move(file));
    description.relu_threshold = options.relu_threshold;
    if (options.activation) {
        description.architecture.activation = *options.activation;
        description.activation_source = model::ActivationSource::user;
    }
    return description;
}

}  // namespace

std::shared_ptr<Model> Model::load(const std::filesystem::path& path, const LoadOptions& options,
                                   const std::stop_token& stop) {
    throwIfStopped(stop);
    auto file = gguf::File::open(path);
    throwIfStopped(stop);
    return std::shared_ptr<Model>(new Model(std::move(file), options, stop));
}

Model::~Model() { build_stop_.request_stop(); }

placement::Plan Model::planFor(const model::Description& description, const LoadOptions& options,
                               const sparse::Profile* profile) {
    const placement::Device cpu = placement::cpuDevice();
    return placement::plan(description, profile, {&cpu, 1},
                           {.ctx = options.ctx, .batch = options.batch, .kv = options.kv, .sparse = options.sparse.mode});
}

Model::Model(std::shared_ptr<const gguf::File> file, const LoadOptions& options, const std::stop_token& stop)
    : options_(options),
      description_(describe(file, options)),
      plan_(planFor(description_, options)),
      weights_(description_, options.sparse.mode),
      pool_(options.threads),
      stop_build_(stop, [source = build_stop_]() mutable { source.request_stop(); }) {
    forward_ =
        std::make_unique<model::Forward>(description_, weights_, pool_, plan_.ctx, options.batch, options.sparse);
    requirePredictors();
    if (options_.count_neurons) {
        counted_ = sparse::Profile(description_.layers);
        forward_->setProfile(&counted_);
    }
    // Building the merge tables of a large vocabulary takes a good part of a second, and only text needs them.
    tokenizer_ = std::async(std::launch::async, [file, ending = build_stop_.get_token()] {
                     return std::shared_ptr<const text::Tokenizer>(
                         std::make_shared<text::Tokenizer>(std::make_shared<text::Vocabulary>(file), ending));
                 }).share();
}

std::vector<std::string> Model::warnings() const {
    std::vector<std::string> all = vocabulary().warnings();
    if (description_.activation_source == model::ActivationSource::name)
        all.push_back("the file does not say which activation its feed-forward has; going by its name it is " +
                      std::string(model::activationName(description_.architecture.activation)) +
                      " (--activation silu says otherwise)");
    return all;
}

const std::string& Model::identity() const {
    if (identity_.empty()) identity_ = sparse::identityOf(*description_.file);
    return identity_;
}

bool Model::usePredictors(std::string* why_not) {
    const auto calibration =
        sparse::Calibration::open(identity(), options_.sidecars, model::layerSizes(description_), why_not);
    if (calibration) forward_->setPredictors(std::make_shared<const model::Predictors>(calibration));
    return calibration != nullptr;
}

/// Modes that cannot run without a predictor or a calibration say so at once, not by being something else.
void Model::requirePredictors() {
    const sparse::Choice& choice = options_.sparse;
    const bool predict = choice.mode == sparse::Mode::predict;
    if (!predict && choice.mode != sparse::Mode::threshold) return;
    const bool own = description_.file->find("blk.0.fc1.weight") != nullptr, zeros = description_.activationHasZeros();
    if (predict && choice.predictor == sparse::Predictor::oracle) return;
    if (predict && !zeros)
        throw Error("cannot predict neurons of this model", "its activation leaves no zeros that could be skipped",
                    "Use --sparse threshold=0.05, which is lossy, or --sparse off");
    if (predict && choice.predictor == sparse::Predictor::file && !own)
        throw Error("cannot use the file's own predictor", "the file has none (blk.0.fc1.weight)",
                    "Use --sparse predict=lowrank after hearth-cli calibrate, or --sparse exact");
    if (predict && own && (choice.predictor == sparse::Predictor::best || choice.predictor == sparse::Predictor::file))
        return;
    std::string why_not;
    if (!usePredictors(&why_not))
        throw Error("this sparse mode needs a calibration of the model", why_not,
                    "Run hearth-cli calibrate with this model, or use --sparse exact");
}

std::optional<sparse::Profile> Model::profile() const {
    auto profile = sparse::Profile::open(identity(), options_.sidecars);
    if (profile && !profile->fits(model::neuronCounts(description_))) profile.reset();
    return profile;
}

void Model::keepProfile() {
    if (counted_.empty()) return;
    sparse::Profile all = profile().value_or(sparse::Profile(description_.layers));
    all.merge(counted_);
    all.save(identity(), options_.sidecars);
    counted_ = sparse::Profile(description_.layers);
}

Preparation Model::preparation(unsigned threads) {
    return Preparation(description_, weights_, options_.sparse.mode, options_.sidecars, threads, [this] { return tokenizer_.get(); });
}

void Model::use(Prepared prepared) {
    if (prepared.copies) weights_.useCopies(description_, std::move(prepared.copies));
    forward_->setDenseLayers(std::move(prepared.dense_layers));
}

std::string Model::prepare(MakePrepared make, const std::stop_token& stop, const Preparation::Progress& progress) {
    if (!Preparation::needed(description_, options_.sparse.mode)) return {};
    try {
        Prepared prepared = preparation(pool_.threads()).run(make, stop, progress);
        std::string problem = std::move(prepared.problem);
        use(std::move(prepared));
        return problem;
    } catch (const Error& error) {
        return error.what();
    }
}

void Model::prepareInBackground() {
    if (!Preparation::needed(description_, options_.sparse.mode)) return;
    prepared_share_ = 0;
    preparing_ = std::jthread([this](const std::stop_token& stop) {
        try {
            Prepared prepared = preparation(1).run(MakePrepared::yes, stop, [this](double share) { prepared_share_ = share; });
            const std::scoped_lock lock(prepared_mutex_);
            prepared_problem_ = std::exchange(prepared.problem, {});
            prepared_ = std::move(prepared);
        } catch (const Error& error) {
            const std::scoped_lock lock(prepared_mutex_);
            prepared_problem_ = error.what();
        } catch (const Stopped&) {
        }
        prepared_share_ = -1;
    });
}

std::string Model::takePreparationProblem() {
    const std::scoped_lock lock(prepared_mutex_);
    return std::exchange(prepared_problem_, {});
}

std::optional<double> Model::preparing() const {
    const double share = prepared_share_;
    return share < 0 ? std::nullopt : std::optional(share);
}

std::shared_ptr<void> Model::beginAnswer() {
    if (answers_.use_count() == 1) {
        const std::scoped_lock lock(prepared_mutex_);
        if (prepared_) use(*std::exchange(prepared_, std::nullopt));
    }
    return answers_;
}

std::unique_ptr<model::Sequence> Model::newSequence() const {
    return std::make_unique<model::Sequence>(
        description_, model::SequenceOptions{.context = plan_.ctx, .batch = options_.batch, .kv = options_.kv});
}

sampling::VocabularyView Model::vocabularyView() const {
    const text::Vocabulary& v = vocabulary();
    return {.size = v.size(),
            .bytes = [&v](Token t) { return std::string(v.pieceBytes(t)); },
            .is_end = [&v](Token t) { return v.isEog(t); },
            .is_control = [&v](Token t) { return v.isControl(t); }};
}

std::shared_ptr<const sampling::TokenTrie> Model::tokenTrie() {
    if (!token_trie_) token_trie_ = std::make_shared<sampling::TokenTrie>(vocabularyView());
    return token_trie_;
}

}  // namespace hearth::runtime
