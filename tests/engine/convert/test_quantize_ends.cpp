#include "tests/engine/convert/quantize_folder.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace hearth;
using convert::FileType;
using gguf::Type;
using test::contents, test::refuses;
using Path = std::filesystem::path;

/// What becomes of files when a quantisation is refused, stopped or fails.
class TestQuantizeEnds : public QObject {
    Q_OBJECT

private slots:
    void init();
    void sameFileIsRefused_data();
    void sameFileIsRefused();
    void spaceIsCheckedFirst();
    void stopLeavesNothing_data();
    void stopLeavesNothing();
    void stopIsPrompt();
    void badValuesAreNamed();
    void failureKeepsTheOldFile();
    void progressReachesTheEnd();

private:
    Path path(const char* name) const { return folder_->path(name); }
    Path source(const char* tensor = "gaussian", Type type = Type::F32, made::Shape shape = {}) const {
        return folder_->source(tensor, type, shape);
    }
    std::set<std::string> names() const { return folder_->names(); }

    std::unique_ptr<test::QuantizeFolder> folder_;
    ThreadPool pool_{2};
};

void TestQuantizeEnds::init() { folder_ = std::make_unique<test::QuantizeFolder>(); }

void TestQuantizeEnds::sameFileIsRefused_data() {
    QTest::addColumn<QString>("how");
    for (const char* how : {"same", "dots", "symlink", "hard link", "partial name"}) QTest::newRow(how) << how;
}

void TestQuantizeEnds::sameFileIsRefused() {
    QFETCH(QString, how);
    Path from = source(), to = from;
    if (how == "dots") to = from.parent_path() / "." / ".." / from.parent_path().filename() / from.filename();
    if (how == "symlink") std::filesystem::create_symlink(from, to = path("link.gguf"));
    if (how == "hard link") std::filesystem::create_hard_link(from, to = path("link.gguf"));
    if (how == "partial name") {  // what the writer would fill first
        std::filesystem::rename(from, path("new.gguf.part"));
        from = path("new.gguf.part");
        to = path("new.gguf");
    }
    const std::vector<char> before = contents(from);
    const std::set<std::string> files = names();
    QVERIFY(refuses([&] { convert::quantizeFile(from, to, {.type = FileType::Q8_0}, pool_); },
                    {"cannot write", "another name"}));
    QVERIFY(contents(from) == before);
    QCOMPARE(names(), files);
}

void TestQuantizeEnds::spaceIsCheckedFirst() {
    const Path from = source();
    Path asked;
    uint64_t free = 0;
    convert::QuantizeOptions options{.type = FileType::Q8_0};
    options.progress = [](const convert::QuantizeProgress&) { QFAIL("work began although there is no space"); };
    options.free_bytes = [&](const Path& folder) {
        asked = folder;
        return free;
    };
    QVERIFY(refuses([&] { convert::quantizeFile(from, path("new.gguf"), options, pool_); }, {"free", "GiB"}));
    QVERIFY(std::filesystem::equivalent(asked, path("")));
    QCOMPARE(names(), (std::set<std::string>{"source.gguf"}));
    // The file's size to the byte is enough, one byte less is not.
    options.progress = {};
    convert::quantizeFile(from, path("size.gguf"), {.type = FileType::Q8_0}, pool_);
    free = std::filesystem::file_size(path("size.gguf"));
    convert::quantizeFile(from, path("new.gguf"), options, pool_);
    --free;
    QVERIFY(refuses([&] { convert::quantizeFile(from, path("new2.gguf"), options, pool_); }, {"free"}));
}

void TestQuantizeEnds::stopLeavesNothing_data() {
    QTest::addColumn<int>("after");  // reports of progress
    for (const int after : {0, 1, 5, 12}) QTest::addRow("after %d reports", after) << after;
}

void TestQuantizeEnds::stopLeavesNothing() {
    QFETCH(int, after);
    const Path from = source();
    std::stop_source stop;
    int reports = 0;
    convert::QuantizeOptions options{.type = FileType::Q4_K_M};
    options.stop = stop.get_token();
    options.progress = [&](const convert::QuantizeProgress&) {
        if (++reports >= after) stop.request_stop();
    };
    if (after == 0) stop.request_stop();
    QVERIFY_THROWS_EXCEPTION(Stopped, convert::quantizeFile(from, path("new.gguf"), options, pool_));
    QCOMPARE(names(), (std::set<std::string>{"source.gguf"}));
    // The pool works on as if nothing had been.
    std::atomic<int> ran = 0;
    pool_.run(5, [&](size_t) { ++ran; });
    QCOMPARE(ran.load(), 5);
}

/// The time is printed; only twenty times the promised 200 ms would fail.
void TestQuantizeEnds::stopIsPrompt() {
    const Path from = source("gaussian", Type::F32, {.layers = 40});
    std::stop_source stop;
    convert::QuantizeOptions options{.type = FileType::Q5_K_M};
    options.stop = stop.get_token();
    std::atomic<bool> started = false;
    options.progress = [&](const convert::QuantizeProgress&) { started = true; };
    std::chrono::steady_clock::time_point asked;
    std::thread other([&] {
        while (!started) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        asked = std::chrono::steady_clock::now();
        stop.request_stop();
    });
    bool stopped = false;
    try {
        convert::quantizeFile(from, path("new.gguf"), options, pool_);
    } catch (const Stopped&) {
        stopped = true;
    }
    const auto answered = std::chrono::steady_clock::now();
    other.join();
    QVERIFY(stopped);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(answered - asked).count();
    qInfo("stopped %d ms after it was asked", static_cast<int>(ms));
    QVERIFY(ms < 4000);
}

void TestQuantizeEnds::badValuesAreNamed() {
    const auto write = [&](float bad) {
        std::vector<float> values(256 * 4, 0.5f);
        values[300] = bad;
        gguf::Writer writer;
        writer.set("general.architecture", "llama");
        const std::vector<uint64_t> ne{256, 4};
        writer.addTensor("blk.0.ffn_up.weight", Type::F32, ne, std::as_bytes(std::span(values)));
        writer.write(path("source.gguf"));
    };
    const auto run = [&](FileType type) {
        convert::quantizeFile(path("source.gguf"), path("new.gguf"), {.type = type}, pool_);
    };
    for (const float bad : {NAN, INFINITY}) {
        write(bad);
        for (const FileType type : {FileType::Q4_K_M, FileType::Q8_0, FileType::F16, FileType::BF16})
            QVERIFY(refuses([&] { run(type); }, {"blk.0.ffn_up.weight", "row 1"}));
    }
    write(70000.0f);
    QVERIFY(refuses([&] { run(FileType::F16); }, {"blk.0.ffn_up.weight", "70000", "BF16"}));
    QCOMPARE(names(), (std::set<std::string>{"source.gguf"}));
    run(FileType::BF16);
}

void TestQuantizeEnds::failureKeepsTheOldFile() {
    const Path from = source();
    convert::quantizeFile(from, path("new.gguf"), {.type = FileType::Q8_0}, pool_);
    const std::vector<char> before = contents(path("new.gguf"));
    std::stop_source stop;
    convert::QuantizeOptions options{.type = FileType::Q4_0};
    options.stop = stop.get_token();
    options.progress = [&](const convert::QuantizeProgress& p) {
        if (p.done > p.total / 2) stop.request_stop();
    };
    QVERIFY_THROWS_EXCEPTION(Stopped, convert::quantizeFile(from, path("new.gguf"), options, pool_));
    QVERIFY(contents(path("new.gguf")) == before);
    convert::quantizeFile(from, path("new.gguf"), {.type = FileType::Q4_0}, pool_);
    QVERIFY(contents(path("new.gguf")).size() < before.size());
}

void TestQuantizeEnds::progressReachesTheEnd() {
    const Path from = source();
    uint64_t last = 0, total = 0;
    bool grows = true;
    std::set<std::string> seen;
    convert::QuantizeOptions options{.type = FileType::Q4_K_M};
    options.progress = [&](const convert::QuantizeProgress& p) {
        grows = grows && p.done >= last && (total == 0 || p.total == total);
        last = p.done;
        total = p.total;
        seen.insert(std::string(p.tensor));
    };
    convert::quantizeFile(from, path("new.gguf"), options, pool_);
    uint64_t bytes = 0;
    const auto file = gguf::File::open(from);
    for (const gguf::Tensor& tensor : file->tensors()) {
        bytes += tensor.bytes;
        QVERIFY2(seen.contains(tensor.name), tensor.name.c_str());
    }
    QVERIFY(grows);
    QCOMPARE(total, bytes);
    QCOMPARE(last, bytes);
    QVERIFY(seen.contains(""));
}

QTEST_GUILESS_MAIN(TestQuantizeEnds)
#include "test_quantize_ends.moc"
