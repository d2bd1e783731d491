#include "engine/runtime/model.h"

#include "engine/base/error.h"

namespace hearth::runtime {

using text::Token;

namespace {

model::Description describe(std::shared_ptr<const gguf::File> file, const LoadOptions& options) {
    model::Description description = model::Description::read(std::move(file));
    if (options.activation) description.architecture.activation = *options.activation;
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

placement::Plan Model::planFor(const model::Description& description, const LoadOptions& options) {
    const placement::Device cpu = placement::cpuDevice();
    return placement::plan(description, nullptr, {&cpu, 1},
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
    // Building the merge tables of a large vocabulary takes a good part of a second, and only text needs them.
    tokenizer_ = std::async(std::launch::async, [file, ending = build_stop_.get_token()] {
                     return std::shared_ptr<const text::Tokenizer>(
                         std::make_shared<text::Tokenizer>(std::make_shared<text::Vocabulary>(file), ending));
                 }).share();
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
