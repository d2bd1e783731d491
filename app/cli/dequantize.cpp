#include <bit>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "engine/base/error.h"
#include "engine/quant/quant.h"

namespace hearth::cli {
namespace {

struct Arguments {
    std::string type, in, out;
};

void dequantize(const Arguments& arguments) {
    const auto type = gguf::typeByName(arguments.type);
    if (!type) refuseArgument("TYPE", "\"" + arguments.type + "\" is no type that Hearth reads");
    const gguf::TypeInfo& info = gguf::typeInfo(*type);
    const std::string blocks = readFile(arguments.in);
    if (blocks.size() % info.block_bytes != 0)
        throw Error("cannot decode " + arguments.in,
                    "its " + std::to_string(blocks.size()) + " bytes are no multiple of " +
                        std::to_string(info.block_bytes) + ", a block of " + std::string(info.name));
    std::vector<float> values(blocks.size() / info.block_bytes * info.block_elements);
    quant::decode(*type, std::as_bytes(std::span(blocks)), values);
    OutputFile out(arguments.out);
    out.write(std::as_bytes(std::span(values)));
    out.finish();
}

}  // namespace

void addDequantize(CLI::App& app) {
    auto* command = app.add_subcommand("dequantize", "Decode blocks of a tensor type to float32");
    auto arguments = std::make_shared<Arguments>();
    command->add_option("type", arguments->type, "Q4_K, MXFP4 ...")->required()->type_name("TYPE");
    command->add_option("in", arguments->in, "Blocks, one after another")->required()->type_name("IN");
    command->add_option("out", arguments->out, "float32 values")->required()->type_name("OUT");
    command->callback([arguments] { dequantize(*arguments); });
}

}  // namespace hearth::cli
