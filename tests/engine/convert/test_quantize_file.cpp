#include "tests/engine/convert/quantize_folder.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "tests/engine/quant/peer_figures.h"

using namespace hearth;
using convert::FileType;
using gguf::Type;
using test::contents, test::refuses;
using Path = std::filesystem::path;

namespace {

std::vector<float> decoded(const gguf::Tensor& tensor) {
    std::vector<float> values(tensor.rows() * tensor.ne[0]);
    quant::decode(tensor.type, {tensor.data, tensor.bytes}, values);
    return values;
}

double error(const std::vector<float>& got, const std::vector<float>& want, const std::vector<float>& w = {}) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        const double e = double(got[i]) - double(want[i]), wi = w.empty() ? 1.0 : double(w[i % w.size()]);
        sum += wi * e * e;
        weights += wi;
    }
    return std::sqrt(sum / weights);
}

bool sameValue(const gguf::Value& a, const gguf::Value& b) {
    if (a.type() != b.type() || a.elementType() != b.elementType() || a.count() != b.count()) return false;
    if (a.elementType() == gguf::ValueType::String)
        return a.isArray() ? a.strings() == b.strings() : a.string() == b.string();
    if (a.elementType() == gguf::ValueType::Bool) return a.integers() == b.integers();
    return a.numbers() == b.numbers();
}

}  // namespace

class TestQuantizeFile : public QObject {
    Q_OBJECT

private slots:
    void init();
    void everyType_data();
    void everyType();
    void ownModels_data();
    void ownModels();
    void threadsChangeNothing();
    void toF32IsExact();
    void requantisingIsRefused();
    void importanceCounts();
    void importanceOfExperts();
    void badImportance();

private:
    Path path(const char* name) const { return folder_->path(name); }
    Path source(const char* tensor = "gaussian", Type type = Type::F32, made::Shape shape = {}) const {
        return folder_->source(tensor, type, shape);
    }
    std::set<std::string> names() const { return folder_->names(); }

    std::unique_ptr<test::QuantizeFolder> folder_;
    ThreadPool pool_{2};
};

void TestQuantizeFile::init() { folder_ = std::make_unique<test::QuantizeFolder>(); }

void TestQuantizeFile::everyType_data() {
    QTest::addColumn<FileType>("type");
    for (const FileType type : convert::fileTypes())
        QTest::newRow(std::string(convert::fileTypeName(type)).c_str()) << type;
}

void TestQuantizeFile::everyType() {
    QFETCH(FileType, type);
    const Path from = source(), to = path("new.gguf");
    convert::quantizeFile(from, to, {.type = type}, pool_);
    QCOMPARE(names(), (std::set<std::string>{"source.gguf", "new.gguf"}));
    const auto old_file = gguf::File::open(from), new_file = gguf::File::open(to);

    QCOMPARE(new_file->integer("general.file_type"), std::optional<int64_t>(static_cast<int64_t>(type)));
    const bool plain = type == FileType::F32 || type == FileType::F16 || type == FileType::BF16;
    QCOMPARE(new_file->integer("general.quantization_version"), plain ? std::nullopt : std::optional<int64_t>(2));
    for (const auto& [key, value] : old_file->values()) {
        if (key == "general.file_type") continue;
        const gguf::Value* kept = new_file->value(key);
        QVERIFY2(kept && sameValue(*kept, value), std::string(key).c_str());
    }

    const std::vector<float> want = made::tensor("gaussian");
    QCOMPARE(new_file->tensors().size(), old_file->tensors().size());
    for (size_t i = 0; i < new_file->tensors().size(); ++i) {
        const gguf::Tensor &made = new_file->tensors()[i], &was = old_file->tensors()[i];
        QCOMPARE(made.name, was.name);
        QCOMPARE(made.ne, was.ne);
        const std::vector<float> got = decoded(made), values = decoded(was);
        if (made.type == Type::F32) {
            QVERIFY2(got == values, made.name.c_str());
            continue;
        }
        // The made tensor is read row by row wherever rows are 512 long; elsewhere blocks fall on other values, and the
        // error is that of another sample of the same distribution.
        double limit = 0;
        for (const made::PeerFigures& peer : made::kPeerFigures)
            if (gguf::typeInfo(made.type).name == peer.type && std::string(peer.tensor) == "gaussian")
                limit = 1.02 * peer.rmse;
        QVERIFY2(limit > 0, made.name.c_str());
        const bool whole = made.ne[0] == made::kColumns && made.rows() == made::kRows;
        QVERIFY2(error(got, values) <= (whole ? limit : 1.05 * limit), made.name.c_str());
        if (whole) QVERIFY2(error(got, want) <= limit, made.name.c_str());
    }
}

void TestQuantizeFile::ownModels_data() {
    QTest::addColumn<QString>("model");
    const QString folder = QStringLiteral(HEARTH_SOURCE_DIR) + "/tests/data/models";
    for (const auto& entry : std::filesystem::directory_iterator(folder.toStdString()))
        if (entry.path().extension() == ".gguf")
            QTest::newRow(entry.path().stem().c_str()) << QString::fromStdString(entry.path().string());
}

/// Models of every architecture come out whole: the same tensors and shapes, values near those that they had.
void TestQuantizeFile::ownModels() {
    QFETCH(QString, model);
    const auto before = gguf::File::open(model.toStdString());
    // Share of the size of values that a type may change (4 bits leave about a tenth).
    for (const auto& [type, share] :
         {std::pair(FileType::Q8_0, 0.02), std::pair(FileType::Q4_K_M, 0.2), std::pair(FileType::BF16, 0.01)}) {
        convert::quantizeFile(model.toStdString(), path("new.gguf"), {.type = type, .allow_requantizing = true}, pool_);
        const auto after = gguf::File::open(path("new.gguf"));
        QCOMPARE(after->isPowerInfer(), before->isPowerInfer());
        const gguf::Tensor* predictor = after->find("blk.0.fc2.weight");
        QCOMPARE(QString::fromStdString(convert::predictorNote(path("new.gguf"))).contains("fc2 as"), predictor != nullptr);
        QCOMPARE(after->tensors().size(), before->tensors().size());
        for (const gguf::Tensor& tensor : before->tensors()) {
            const gguf::Tensor& made = after->require(tensor.name);
            QCOMPARE(made.ne, tensor.ne);
            QCOMPARE(made.n_dims, tensor.n_dims);
            if (tensor.type == Type::I32) continue;
            const std::vector<float> was = decoded(tensor), is = decoded(made);
            const std::vector<float> zeros(was.size(), 0.0f);
            QVERIFY2(error(is, was) <= share * error(was, zeros), tensor.name.c_str());
        }
    }
}

void TestQuantizeFile::threadsChangeNothing() {
    const Path from = source();
    ThreadPool one(1), three(3);
    convert::quantizeFile(from, path("one.gguf"), {.type = FileType::Q4_K_M}, one);
    convert::quantizeFile(from, path("three.gguf"), {.type = FileType::Q4_K_M}, three);
    QVERIFY(contents(path("one.gguf")) == contents(path("three.gguf")));
}

void TestQuantizeFile::toF32IsExact() {
    const Path from = source("laplace", Type::Q4_K);
    convert::quantizeFile(from, path("new.gguf"), {.type = FileType::F32}, pool_);
    const auto before = gguf::File::open(from), after = gguf::File::open(path("new.gguf"));
    for (const gguf::Tensor& tensor : before->tensors()) {
        const gguf::Tensor& made = after->require(tensor.name);
        QCOMPARE(made.type, Type::F32);
        QVERIFY2(decoded(made) == decoded(tensor), made.name.c_str());
    }
}

void TestQuantizeFile::requantisingIsRefused() {
    const Path from = source("gaussian", Type::Q5_1);
    const Path to = path("new.gguf");
    QVERIFY(refuses([&] { convert::quantizeFile(from, to, {.type = FileType::Q4_0}, pool_); },
                    {"Q5_1", "already", "requantis"}));
    QCOMPARE(names(), (std::set<std::string>{"source.gguf"}));
    convert::quantizeFile(from, to, {.type = FileType::Q4_0, .allow_requantizing = true}, pool_);
    QCOMPARE(gguf::File::open(to)->require("blk.1.ffn_up.weight").type, Type::Q4_0);
    // The type that a tensor has already costs nothing: its bytes are copied.
    convert::quantizeFile(from, to, {.type = FileType::Q5_1, .pure = true}, pool_);
    const auto before = gguf::File::open(from), after = gguf::File::open(to);
    for (const gguf::Tensor& tensor : before->tensors()) {
        const gguf::Tensor& made = after->require(tensor.name);
        QVERIFY2(made.bytes == tensor.bytes && std::memcmp(made.data, tensor.data, made.bytes) == 0, made.name.c_str());
    }
}

void TestQuantizeFile::importanceCounts() {
    const Path from = source("laplace");
    const std::string name = "blk.0.ffn_gate.weight";
    const convert::Importance importance{{name, made::importance()}};
    convert::quantizeFile(from, path("plain.gguf"), {.type = FileType::Q4_K_M}, pool_);
    convert::quantizeFile(from, path("weighted.gguf"), {.type = FileType::Q4_K_M, .importance = &importance}, pool_);
    const auto plain = gguf::File::open(path("plain.gguf")), weighted = gguf::File::open(path("weighted.gguf"));
    const std::vector<float> want = made::tensor("laplace");
    const double without = error(decoded(plain->require(name)), want, importance.at(name));
    const double with = error(decoded(weighted->require(name)), want, importance.at(name));
    QVERIFY2(with <= 0.9 * without, qPrintable(QString("%1 against %2").arg(with).arg(without)));
    for (const made::PeerFigures& peer : made::kPeerFigures)
        if (std::string(peer.type) == "Q4_K" && std::string(peer.tensor) == "laplace")
            QVERIFY(with <= 1.02 * peer.weighted_rmse);
    const gguf::Tensor &other = plain->require("blk.0.ffn_up.weight"), &same = weighted->require("blk.0.ffn_up.weight");
    QVERIFY(std::memcmp(other.data, same.data, other.bytes) == 0);
}

/// A row of weights for each expert: here all weight on the first or on the second half of the columns.
void TestQuantizeFile::importanceOfExperts() {
    const Path from = source("gaussian", Type::F32, {.layers = 1, .experts = 3});
    const std::string name = "blk.0.ffn_up_exps.weight";
    const size_t n = made::kColumns, matrix = made::kColumns * made::kRows;
    // Weights alternate inside blocks, other columns for other experts, so that a block has both kinds.
    convert::Importance importance{{name, std::vector<float>(3 * n)}};
    for (size_t x = 0; x < 3; ++x)
        for (size_t i = 0; i < n; ++i) importance[name][x * n + i] = i % 3 == x ? 1.0f : 0.001f;
    convert::quantizeFile(from, path("new.gguf"), {.type = FileType::Q4_0, .importance = &importance}, pool_);
    const auto before = gguf::File::open(from), after = gguf::File::open(path("new.gguf"));
    const std::vector<float> was = decoded(before->require(name)), is = decoded(after->require(name));
    for (size_t x = 0; x < 3; ++x) {
        double errors[3] = {};
        for (size_t i = 0; i < matrix; ++i) {
            const double e = double(is[x * matrix + i]) - double(was[x * matrix + i]);
            errors[i % n % 3] += e * e;
        }
        for (size_t other = 0; other < 3; ++other)
            if (other != x) QVERIFY(errors[x] < 0.7 * errors[other]);
    }
}

void TestQuantizeFile::badImportance() {
    const Path from = source();
    const auto run = [&](convert::Importance importance) {
        convert::quantizeFile(from, path("new.gguf"), {.type = FileType::Q4_K_M, .importance = &importance}, pool_);
    };
    const std::string name = "blk.0.ffn_gate.weight";
    QVERIFY(refuses([&] { run({{name, std::vector<float>(511, 1.0f)}}); }, {"511", "512", name.c_str()}));
    QVERIFY(refuses([&] { run({{"blk.9.unknown.weight", std::vector<float>(512, 1.0f)}}); }, {"names no tensor"}));
    QVERIFY(refuses([&] { run({{name, std::vector<float>(512, -1.0f)}}); }, {"-1"}));
    QCOMPARE(names(), (std::set<std::string>{"source.gguf"}));
}

QTEST_GUILESS_MAIN(TestQuantizeFile)
#include "test_quantize_file.moc"
