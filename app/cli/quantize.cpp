#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "engine/base/size.h"
#include "app/cli/terminal.h"
#include "engine/convert/importance_file.h"
#include "engine/convert/quantize_file.h"

namespace hearth::cli {
namespace {

struct Arguments {
    std::string in, out;
    convert::QuantizeOptions options;
    std::optional<std::string> importance_file;
    unsigned threads = 0;
};

std::string typeNames() {
    std::string names;
    for (const convert::FileType type : convert::fileTypes())
        names += (names.empty() ? "" : " ") + std::string(convert::fileTypeName(type));
    return names;
}

void quantize(Arguments& arguments) {
    convert::Importance importance;
    if (arguments.importance_file) {
        importance = convert::readImportance(*arguments.importance_file);
        arguments.options.importance = &importance;
    }
    ThreadPool pool(arguments.threads);
    Progress progress("quantizing");
    const InterruptibleWork work;
    arguments.options.stop = work.token();
    arguments.options.progress = [&progress](const convert::QuantizeProgress& now) {
        progress.show(now.total == 0 ? 1.0 : static_cast<double>(now.done) / static_cast<double>(now.total),
                      now.tensor);
    };
    convert::quantizeFile(arguments.in, arguments.out, arguments.options, pool);
    progress.clear();
    note(arguments.out + ": " + formatSize(std::filesystem::file_size(arguments.out)));
    if (const std::string predictor = convert::predictorNote(arguments.out); !predictor.empty()) note(predictor);
}

}  // namespace

void addQuantize(CLI::App& app) {
    auto* command = app.add_subcommand("quantize", "Make a smaller file of a model");
    auto arguments = std::make_shared<Arguments>();
    command->add_option("in", arguments->in, "GGUF file; of a split model any part")->required()->type_name("IN");
    command->add_option("out", arguments->out, "The new file; it appears when it is complete")
        ->required()
        ->type_name("OUT");
    command
        ->add_option_function<std::string>(
            "type",
            [arguments](const std::string& word) {
                const auto type = convert::fileTypeByName(word);
                if (!type) refuseArgument("TYPE", "\"" + word + "\" is none of " + typeNames());
                arguments->options.type = *type;
            },
            typeNames())
        ->required()
        ->type_name("TYPE");
    command->add_option("--imatrix", arguments->importance_file, "Importance matrix: which columns matter most (GGUF)")
        ->type_name("FILE");
    command->add_flag("--pure", arguments->options.pure, "One type for all matrices");
    command->add_flag("--allow-requantizing", arguments->options.allow_requantizing,
                      "Also from tensors that are quantised already (they lose quality twice)");
    addThreads(*command, arguments->threads);
    command->callback([arguments] { quantize(*arguments); });
}

}  // namespace hearth::cli
