#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <numeric>

#include "engine/base/error.h"
#include "engine/runtime/model.h"
#include "engine/sparse/down_copies.h"
#include "tests/support/fixtures.h"

using namespace hearth;
using runtime::MakePrepared;
using sparse::Mode;
namespace fs = std::filesystem;

namespace {

constexpr uint32_t kLayers = 2, kNeurons = 512;   // of the model below

}  // namespace

/// A model whose down-projections are in blocks along the neurons, computed with ReLU.
class TestPreparation : public QObject {
    Q_OBJECT

private slots:
    void init() {
        folder_ = std::make_unique<QTemporaryDir>();
        cache_ = fs::path(folder_->path().toStdString()) / "cache";
    }
    void isMadeOnce();
    void zerosDecide_data();
    void zerosDecide();
    void zerosAreCountedOnce();
    void comesBetweenTwoAnswers();
    void withoutSpaceItRunsDense();
    void endsWhenAsked();
    void countsOfAnotherModelAreDropped();

private:
    std::shared_ptr<runtime::Model> load(Mode mode) const {
        return runtime::Model::load(path_, {.ctx = 64,
                                            .threads = 2,
                                            .sparse = mode,
                                            .activation = cpu::Activation::relu,
                                            .sidecars = sparse::Sidecars(cache_)});
    }
    /// Neurons that ran by neuron in a step of one token.
    static uint64_t byNeuron(runtime::Model& model) {
        model.forward().measurements().reset(false);
        const auto sequence = model.newSequence();
        const std::vector<int32_t> token{3};
        Matrix<float> logits(1, model.description().vocabulary);
        const model::Part part{sequence.get(), token, model::Part::Logits::last};
        model.forward().run({&part, 1}, logits.view());
        return model.forward().measurements().neurons.all;
    }
    std::string identity() const { return sparse::identityOf(*gguf::File::open(path_)); }

    const fs::path path_ = test::dataFolder() / "models" / "llama_quants.gguf";
    std::unique_ptr<QTemporaryDir> folder_;
    fs::path cache_;
};

void TestPreparation::isMadeOnce() {
    const auto first = load(Mode::exact);
    QCOMPARE(first->prepare(MakePrepared::no), std::string());
    QCOMPARE(byNeuron(*first), uint64_t{0});   // not there yet: dense
    double share = 0;
    QCOMPARE(first->prepare(MakePrepared::yes, {}, [&](double s) { share = s; }), std::string());
    QCOMPARE(share, 1.0);
    QCOMPARE(byNeuron(*first), uint64_t{kLayers * kNeurons});
    const auto entries = sparse::Sidecars(cache_).list();
    QCOMPARE(entries.size(), size_t{1});
    QVERIFY(entries[0].bytes > sparse::DownCopies::bytesNeeded(*first->description().file));
    const auto written = fs::last_write_time(entries[0].path);
    const auto second = load(Mode::exact);
    QCOMPARE(second->prepare(MakePrepared::yes), std::string());
    QCOMPARE(byNeuron(*second), uint64_t{kLayers * kNeurons});
    QVERIFY(fs::last_write_time(entries[0].path) == written);
    // The plan names what the copies take.
    uint64_t planned = 0;
    for (const placement::Part& part : second->plan().parts)
        if (part.what == "regrouped copies") planned += part.bytes;
    QCOMPARE(planned, sparse::DownCopies::bytesNeeded(*first->description().file));
}

void TestPreparation::zerosDecide_data() {
    QTest::addColumn<int>("first");
    QTest::addColumn<int>("second");
    QTest::addColumn<int>("layers");
    QTest::newRow("both") << 90 << 60 << 2;
    QTest::newRow("one") << 90 << 10 << 1;
    QTest::newRow("none") << 0 << 10 << 0;
}

/// `auto` goes by the counts: layers with few zeros run dense, and nothing is copied for a model that has no others.
void TestPreparation::zerosDecide() {
    QFETCH(int, first);
    QFETCH(int, second);
    QFETCH(int, layers);
    const sparse::ZeroCounts counts{static_cast<uint32_t>(cpu::Activation::relu),
                                    {static_cast<uint64_t>(first), static_cast<uint64_t>(second)},
                                    {100, 100}};
    counts.write(identity(), sparse::Sidecars(cache_));
    const auto model = load(Mode::automatic);
    QCOMPARE(model->prepare(MakePrepared::yes), std::string());
    QCOMPARE(byNeuron(*model), static_cast<uint64_t>(layers) * kNeurons);
    QCOMPARE(sparse::Sidecars(cache_).list().size(), size_t(layers > 0 ? 2 : 1));
}

void TestPreparation::zerosAreCountedOnce() {
    const auto model = load(Mode::automatic);
    QCOMPARE(model->prepare(MakePrepared::yes), std::string());
    const auto counts = sparse::ZeroCounts::open(identity(), sparse::Sidecars(cache_), kLayers,
                                                 static_cast<uint32_t>(cpu::Activation::relu));
    QVERIFY(counts);
    for (uint32_t i = 0; i < kLayers; ++i) {   // random weights: about half of the gates are negative
        QVERIFY(counts->all[i] > 0 && counts->all[i] % kNeurons == 0);
        QVERIFY2(counts->share(i) > 0.2 && counts->share(i) < 0.8, qPrintable(QString::number(counts->share(i))));
    }
}

void TestPreparation::comesBetweenTwoAnswers() {
    const sparse::ZeroCounts counts{static_cast<uint32_t>(cpu::Activation::relu), {90, 90}, {100, 100}};
    counts.write(identity(), sparse::Sidecars(cache_));
    const auto model = load(Mode::automatic);
    std::shared_ptr<void> first = model->beginAnswer();
    model->prepareInBackground();
    QVERIFY(QTest::qWaitFor([&] { return !model->preparing(); }, 60000));
    QCOMPARE(byNeuron(*model), uint64_t{0});
    {
        const auto beside = model->beginAnswer();
        QCOMPARE(byNeuron(*model), uint64_t{0});
    }
    first.reset();
    const auto second = model->beginAnswer();
    QCOMPARE(byNeuron(*model), uint64_t{kLayers * kNeurons});
    QCOMPARE(model->takePreparationProblem(), std::string());
}

/// A folder that cannot be made stands for a disk that is full: both are errors of the same writer.
void TestPreparation::withoutSpaceItRunsDense() {
    std::ofstream(folder_->path().toStdString() + "/file") << "no folder";
    cache_ = fs::path(folder_->path().toStdString()) / "file" / "cache";
    const auto model = load(Mode::exact);
    const std::string problem = model->prepare(MakePrepared::yes);
    QVERIFY2(problem.find("zeros are not skipped: cannot make the folder") != std::string::npos, problem.c_str());
    QCOMPARE(byNeuron(*model), uint64_t{0});
    model->prepareInBackground();
    QVERIFY(QTest::qWaitFor([&] { return !model->preparing(); }, 60000));
    QVERIFY(!model->takePreparationProblem().empty());
}

void TestPreparation::endsWhenAsked() {
    const auto model = load(Mode::exact);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_THROWS_EXCEPTION(Stopped, model->prepare(MakePrepared::yes, stop.get_token()));
    QVERIFY(sparse::Sidecars(cache_).list().empty());
    model->prepareInBackground();   // and the model goes while it works
}

void TestPreparation::countsOfAnotherModelAreDropped() {
    const sparse::Sidecars sidecars(cache_);
    const auto relu = static_cast<uint32_t>(cpu::Activation::relu);
    const sparse::ZeroCounts right{relu, {5, 6}, {7, 8}};
    const auto opened = [&](const sparse::ZeroCounts& counts) {
        counts.write(identity(), sidecars);
        const auto got = sparse::ZeroCounts::open(identity(), sidecars, kLayers, relu);
        QCOMPARE(sidecars.list().empty(), !got);
        if (got) {
            QCOMPARE(got->zeros, right.zeros);
            QCOMPARE(got->all, right.all);
        }
    };
    opened(right);
    opened({relu, {5, 6, 7}, {7, 8, 9}});
    opened({relu + 1, {5, 6}, {7, 8}});
    opened({relu, {9, 6}, {7, 8}});   // more zeros than neurons
    gguf::Writer writer;
    writer.set("hearth.zeros.zeros", "words");
    sidecars.write(identity(), {"zeros", 1}, writer);
    QVERIFY(!sparse::ZeroCounts::open(identity(), sidecars, kLayers, relu));
    QVERIFY(sidecars.list().empty());
}

QTEST_GUILESS_MAIN(TestPreparation)
#include "test_preparation.moc"
