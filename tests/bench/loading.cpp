#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "engine/base/error.h"
#include "engine/model/description.h"
#include "engine/text/tokenizer.h"

/// Prints how long it takes until a model file can be shown and until it can be talked to, the pages of the file being in
/// memory already: the first round reads them, the second is printed.
namespace {

using namespace hearth;

double milliseconds(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// From the moment when the building of the tables is asked to stop, `begun` ms after its start, to its end.
double msToStop(const std::shared_ptr<const text::Vocabulary>& vocabulary, double begun) {
    std::stop_source stop;
    std::chrono::steady_clock::time_point asked;
    std::thread asker([&] {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(begun));
        asked = std::chrono::steady_clock::now();
        stop.request_stop();
    });
    try {
        const text::Tokenizer tokenizer(vocabulary, stop.get_token());
    } catch (const Stopped&) {
    }
    const auto ended = std::chrono::steady_clock::now();
    asker.join();
    return std::chrono::duration<double, std::milli>(ended - asked).count();
}

void measure(const char* path, bool shown) {
    std::shared_ptr<const gguf::File> file;
    std::shared_ptr<const text::Vocabulary> vocabulary;
    const double open = milliseconds([&] { file = gguf::File::open(path); });
    const double describe = file->tensors().empty() ? 0 : milliseconds([&] { model::Description::read(file); });
    const double list = milliseconds([&] { vocabulary = std::make_shared<text::Vocabulary>(file); });
    const double tables = milliseconds([&] { const text::Tokenizer tokenizer(vocabulary); });
    const double stopped = msToStop(vocabulary, tables / 2);
    if (!shown) return;
    std::printf(
        "%s: %zu tokens, %zu merges\n  file and description  %8.1f ms\n  list of tokens        %8.1f ms\n  tables for "
        "splitting  %8.1f ms\n  asked to stop half-way, they end after %.1f ms\n",
        path, vocabulary->size(), vocabulary->merges().size(), open + describe, list, tables, stopped);
}

}  // namespace

int main(int count, char** values) {
    if (count < 2) {
        std::fprintf(stderr, "usage: bench_loading MODEL.gguf...\n");
        return 2;
    }
    try {
        for (int i = 1; i < count; ++i)
            for (const bool shown : {false, true}) measure(values[i], shown);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
