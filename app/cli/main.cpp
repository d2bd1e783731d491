#include <CLI/CLI.hpp>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"

namespace {

using namespace hearth::cli;

enum ExitCode : int { done = 0, failed = 1, wrong_usage = 2 };

void addCommands(CLI::App& app) {
    addChat(app);
    addRun(app);
    addBatch(app);
    addInspect(app);
    addPlan(app);
    addDevices(app);
    addBench(app);
    addPerplexity(app);
    addCalibrate(app);
    addProfile(app);
    addQuantize(app);
    addTokenize(app);
    addDetokenize(app);
    addTemplate(app);
    addLogits(app);
    addDequantize(app);
    addSelftest(app);
}

/// Arguments in the order the parser takes them (last first). It knows no short names of two letters.
std::vector<std::string> argumentsOf(int count, char** values) {
    std::vector<std::string> arguments(values + 1, values + count);
    for (std::string& argument : arguments)
        if (argument == "-np") argument = "--parallel";
    return {arguments.rbegin(), arguments.rend()};
}

int runProgram(int count, char** values) {
    CLI::App app("Hearth in the terminal: chat with language models on your own PC.", "hearth-cli");
    app.set_version_flag("--version", "hearth-cli " HEARTH_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer(
        "hearth-cli COMMAND --help says more. Sizes: 6 and 6G are GiB, 6GB is 10^9 bytes.\nExit codes: 0 done, 1 it "
        "failed, 2 wrong usage.");
    addCommands(app);
    try {
        app.parse(argumentsOf(count, values));
        return done;
    } catch (const CLI::Success& help) {
        app.exit(help, std::cout, std::cerr);
        return done;
    } catch (const CLI::ParseError& error) {
        std::cerr << "hearth-cli: " << error.what() << "\nhearth-cli --help says what is possible.\n";
        return wrong_usage;
    }
}

}  // namespace

int main(int count, char** values) {
    try {
        catchInterrupts();
        return runProgram(count, values);
    } catch (const hearth::Stopped&) {
        note("hearth-cli: stopped");
    } catch (const std::bad_alloc&) {
        note("hearth-cli: out of memory: the machine has no more to give. Choose a smaller model or context (--ctx).");
    } catch (const std::exception& error) {
        note(std::string("hearth-cli: ") + error.what());
    }
    return failed;
}
