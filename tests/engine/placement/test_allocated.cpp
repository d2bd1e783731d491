#include <malloc.h>

#include <QtTest>
#include <atomic>
#include <cerrno>
#include <cmath>

#include "engine/model/forward.h"
#include "engine/placement/plan.h"
#include "tests/support/fixtures.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTED 0   // the sanitizer's allocator is in the way
#else
#define COUNTED 1
#endif

using namespace hearth;

namespace {

/// Bytes that are allocated now and the most there have been since reset().
class Counter {
public:
    void add(void* memory) {
        if (memory == nullptr) return;
        const int64_t now = live_ += static_cast<int64_t>(malloc_usable_size(memory));
        int64_t peak = peak_;
        while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
        }
    }
    void remove(void* memory) {
        if (memory != nullptr) live_ -= static_cast<int64_t>(malloc_usable_size(memory));
    }
    void reset() {
        base_ = live_.load();
        peak_ = live_.load();
    }
    double peak() const { return static_cast<double>(peak_ - base_); }

private:
    std::atomic<int64_t> live_ = 0, peak_ = 0, base_ = 0;
} counter;

}  // namespace

#if COUNTED
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t bytes) {
    void* memory = __libc_malloc(bytes);
    counter.add(memory);
    return memory;
}
void* calloc(size_t count, size_t bytes) {
    void* memory = __libc_calloc(count, bytes);
    counter.add(memory);
    return memory;
}
void* realloc(void* old, size_t bytes) {
    counter.remove(old);
    void* memory = __libc_realloc(old, bytes);
    counter.add(memory != nullptr ? memory : bytes > 0 ? old : nullptr);
    return memory;
}
void* memalign(size_t alignment, size_t bytes) {
    void* memory = __libc_memalign(alignment, bytes);
    counter.add(memory);
    return memory;
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
    *memory = memalign(alignment, bytes);
    return *memory != nullptr ? 0 : ENOMEM;
}
void free(void* memory) {
    counter.remove(memory);
    __libc_free(memory);
}
}
#endif

namespace {

/// The plan's promise: what is allocated is what was planned, within 5 %.
bool agree(double planned, double allocated) { return std::abs(allocated / planned - 1) <= 0.05; }

struct Bytes {
    double planned = 0, allocated = 0;
};

/// Plans a model, loads it, computes a full batch and a token with it, and counts.
Bytes bytesOf(const std::filesystem::path& path, const placement::Options& options) {
    const auto d = model::Description::read(gguf::File::open(path));
    placement::Device cpu{.name = "cpu", .bytes_total = 1ull << 40, .bytes_free = 1ull << 40};
    const placement::Plan plan = placement::plan(d, nullptr, {&cpu, 1}, options);
    Bytes bytes;
    for (const auto& part : plan.parts)   // weights stay in the mapped file
        for (const char* what : {"KV cache", "scratch", "logits", "row-per-neuron copies"})
            if (part.what == what) bytes.planned += static_cast<double>(part.bytes);
    ThreadPool pool(1);
    counter.reset();
    const model::Weights weights(d, options.sparse);
    model::Forward forward(d, weights, pool, plan.ctx, options.batch, options.sparse);
    model::Sequence sequence(d, {.context = plan.ctx, .batch = options.batch, .kv = options.kv});
    Matrix<float> logits;
    logits.resize(1, d.vocabulary);
    std::vector<int32_t> ids(options.batch);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * 7919 + 13) % d.vocabulary);
    for (const size_t n : {size_t{options.batch}, size_t{1}}) {
        const model::Part part{&sequence, std::span(ids).first(n), model::Part::Logits::last};
        forward.run({&part, 1}, logits.view());
    }
    bytes.allocated = counter.peak();
    return bytes;
}

std::filesystem::path resource(const char* name) {
    return std::filesystem::path(HEARTH_SOURCE_DIR) / "resources" / name;
}
std::filesystem::path small(const char* name) { return test::dataFolder() / "models" / (std::string(name) + ".gguf"); }

}  // namespace

class TestAllocated : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        if (!COUNTED) QSKIP("a sanitizer's allocator cannot be counted");
    }

    void plannedIsWhatIsAllocated_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("mode");
        const auto row = [](const char* name, const std::filesystem::path& path, sparse::Mode mode) {
            QTest::newRow(name) << QString::fromStdString(path.string()) << int(mode);
        };
        row("starter", resource("starter/SmolLM2-135M-Instruct.Q4_1.gguf"), sparse::Mode::automatic);
        for (const char* name : {"llama", "gemma3", "qwen3moe", "falcon", "gpt_oss", "deepseek2", "stories260K"})
            row(name, small(name), sparse::Mode::automatic);
    }

    void plannedIsWhatIsAllocated() {
        QFETCH(QString, path);
        QFETCH(int, mode);
        const Bytes bytes = bytesOf(path.toStdString(), {.ctx = 4096, .batch = 512, .sparse = sparse::Mode(mode)});
        qInfo("planned %.0f, allocated %.0f: %+.1f %%", bytes.planned, bytes.allocated,
              100 * (bytes.allocated / bytes.planned - 1));
        QVERIFY(agree(bytes.planned, bytes.allocated));
        // An allocator that lies by a tenth is found out.
        QVERIFY(!agree(bytes.planned, 1.1 * bytes.allocated));
        QVERIFY(!agree(bytes.planned, 0.9 * bytes.allocated));
    }
};

QTEST_GUILESS_MAIN(TestAllocated)
#include "test_allocated.moc"
