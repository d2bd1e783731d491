// Speed of the matrix products: decode (one token) as a share of the memory's bandwidth, prefill (128 tokens) in GFLOP/s.
//   kernels [THREADS...]      HEARTH_ISA chooses the instruction-set level

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <random>
#include <vector>

#include "engine/cpu/bandwidth.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/matmul.h"

using namespace hearth;
using gguf::Type;

namespace {

constexpr size_t kCols = 2048, kPrefillRows = 2048, kPrefillTokens = 128;

double seconds(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Times { double best, median; };

Times timesOf(int runs, const std::function<void()>& work) {
    work();
    std::vector<double> all;
    for (int i = 0; i < runs; ++i) all.push_back(seconds(work));
    std::ranges::sort(all);
    return {all.front(), all[all.size() / 2]};
}

/// Bytes that read as numbers of ordinary size wherever a format looks for one.
std::vector<std::byte> weightBytes(size_t n) {
    std::mt19937 random(1);
    std::vector<std::byte> bytes(n);
    for (std::byte& b : bytes) b = static_cast<std::byte>(0x20 + random() % 32);
    return bytes;
}

struct Figures { Times decode, prefill, sparse; size_t decode_bytes, sparse_bytes; };

/// A tenth of the neurons, others each time: up rows, then down rows.
Times sparseTimes(ThreadPool& pool, const cpu::Weight& both, cpu::Activations& activations, size_t& bytes) {
    const uint64_t neurons = both.rows / 2;
    std::mt19937 random(2);
    std::vector<uint32_t> list;
    std::vector<float> gate(neurons, 1.0f), hidden(neurons), out(both.cols);
    cpu::Neurons n;
    n.up = both.slice(0, neurons);
    n.down = both.slice(neurons, neurons);
    n.x = &activations;
    n.gate = gate.data();
    n.hidden = hidden.data();
    n.out = out.data();
    std::vector<double> all;
    for (int i = 0; i < 15; ++i) {
        list.clear();
        for (uint32_t j = 0; j < neurons; ++j)
            if (random() % 10 == 0) list.push_back(j);
        list.resize(neurons / 11);
        n.list = list;
        all.push_back(seconds([&] { cpu::multiplyNeurons(pool, n); }));
    }
    bytes = 2 * list.size() * both.row_bytes;
    std::ranges::sort(all);
    return {all.front(), all[all.size() / 2]};
}

Figures measure(ThreadPool& pool, Type type, const std::vector<std::byte>& bytes) {
    const uint64_t row_bytes = gguf::rowBytes(type, kCols);
    const size_t rows = bytes.size() / row_bytes;
    const std::vector<float> x(kPrefillTokens * kCols, 0.5f);
    std::vector<float> out(std::max(rows, kPrefillTokens * kPrefillRows));
    cpu::Activations activations;
    const cpu::Weight weight{type, bytes.data(), rows, kCols, row_bytes};
    const Times decode = timesOf(7, [&] {
        activations.set({x.data(), 1, kCols});
        cpu::multiply(pool, {weight, &activations, 0, 0, {out.data(), 1, rows}});
    });
    const Times prefill = timesOf(7, [&] {
        activations.set({x.data(), kPrefillTokens, kCols});
        cpu::multiply(pool, {weight.slice(0, kPrefillRows), &activations, 0, 0, {out.data(), kPrefillTokens, kPrefillRows}});
    });
    Figures figures{decode, prefill, {}, rows * row_bytes, 0};
    activations.set({x.data(), 1, kCols});
    figures.sparse = sparseTimes(pool, weight, activations, figures.sparse_bytes);
    return figures;
}

void printThreads(unsigned threads, const std::vector<std::byte>& bytes) {
    ThreadPool pool(threads);
    const double roof = cpu::readBandwidth(pool, 9);
    std::printf("\n%u threads, memory %.1f GB/s\n%-8s %16s %8s %20s %18s\n", threads, roof / 1e9, "type", "decode GB/s", "share", "prefill GFLOP/s", "sparse GB/s");
    for (const Type type : {Type::F32, Type::F16, Type::BF16, Type::Q4_0, Type::Q4_1, Type::Q5_0, Type::Q5_1, Type::Q8_0, Type::Q2_K,
                            Type::Q3_K, Type::Q4_K, Type::Q5_K, Type::Q6_K, Type::IQ4_NL, Type::IQ4_XS, Type::MXFP4, Type::NVFP4,
                            Type::TQ1_0, Type::TQ2_0, Type::Q1_0, Type::Q2_0}) {
        const Figures f = measure(pool, type, bytes);
        const double size = static_cast<double>(f.decode_bytes), work = 2.0 * kCols * kPrefillRows * kPrefillTokens;
        const double sparse = static_cast<double>(f.sparse_bytes);
        std::printf("%-8s %7.1f (%6.1f) %6.0f %% %11.0f (%6.0f) %9.1f (%6.1f)\n", std::string(gguf::typeInfo(type).name).c_str(), size / f.decode.best / 1e9,
                    size / f.decode.median / 1e9, 100 * size / f.decode.best / roof, work / f.prefill.best / 1e9, work / f.prefill.median / 1e9, sparse / f.sparse.best / 1e9, sparse / f.sparse.median / 1e9);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    const std::vector<std::byte> bytes = weightBytes(4 * cpu::lastLevelCache());
    std::printf("level %s; best (median) of 7 runs; weights of %zu MiB, %zu columns\n", std::string(cpu::isaName(cpu::activeIsa())).c_str(),
                bytes.size() >> 20, kCols);
    if (argc < 2) printThreads(ThreadPool::physicalCores(), bytes);
    for (int i = 1; i < argc; ++i) printThreads(static_cast<unsigned>(std::max(1, std::atoi(argv[i]))), bytes);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
