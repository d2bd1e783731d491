#pragma once

namespace CLI {
class App;
}

/// One function a command: it tells the parser the command's arguments and what to call. Each lives in a file of its name.
namespace hearth::cli {

void addBatch(CLI::App& app);
void addBench(CLI::App& app);
void addCalibrate(CLI::App& app);
void addChat(CLI::App& app);
void addDequantize(CLI::App& app);
void addDetokenize(CLI::App& app);
void addDevices(CLI::App& app);
void addInspect(CLI::App& app);
void addLogits(CLI::App& app);
void addPerplexity(CLI::App& app);
void addPlan(CLI::App& app);
void addProfile(CLI::App& app);
void addQuantize(CLI::App& app);
void addRun(CLI::App& app);
void addSelftest(CLI::App& app);
void addTemplate(CLI::App& app);
void addTokenize(CLI::App& app);

}  // namespace hearth::cli
