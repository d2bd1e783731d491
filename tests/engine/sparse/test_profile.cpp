#include <QTemporaryDir>
#include <QTest>

#include "engine/base/error.h"
#include "engine/sparse/profile.h"

using namespace hearth;
using sparse::Profile;

namespace {

const std::string kModel(64, 'c');

}  // namespace

class TestProfile : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    sparse::Sidecars sidecars() const { return sparse::Sidecars(folder_->path().toStdString()); }

private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void countsWhatIsNotZero() {
        Profile::Layer layer;
        Profile::count(layer, 0, std::vector<float>{0, 1, -2, 0, -0.0f});
        Profile::count(layer, 0, std::vector<float>{0, 0, 3, 0, 1e-30f});
        QCOMPARE(layer.fired, (std::vector<uint64_t>{0, 1, 2, 0, 1}));
        Profile::count(layer, 0, std::vector<float>{5, 5, 5, 0, 5}, std::vector<uint32_t>{1, 3});
        QCOMPARE(layer.fired, (std::vector<uint64_t>{0, 2, 2, 0, 1}));
        Profile::count(layer, 5, std::vector<float>{1, 0});   // a second expert's
        QCOMPARE(layer.fired, (std::vector<uint64_t>{0, 2, 2, 0, 1, 1, 0}));
    }

    void isKeptAndMergedOverRuns() {
        Profile run(2);
        run.layer(0) = {{1, 0, 3}, {}, 4, true};
        run.layer(1) = {{}, {2, 2}, 2, true};
        run.save(kModel, sidecars());
        Profile all = Profile::open(kModel, sidecars()).value();
        QVERIFY(all == run);
        QVERIFY(all.merge(run));
        QCOMPARE(all.layer(0).fired, (std::vector<uint64_t>{2, 0, 6}));
        QCOMPARE(all.layer(0).tokens, uint64_t{8});
        QCOMPARE(all.layer(1).chosen, (std::vector<uint64_t>{4, 4}));
        QVERIFY(all.fits(std::vector<uint64_t>{3, 8}));
        QVERIFY(!all.fits(std::vector<uint64_t>{4, 8}));
        QVERIFY(!all.fits(std::vector<uint64_t>{3}));
    }

    /// Rates and rankings are different things, and so are layers of different sizes: neither is added to the other.
    void whatDoesNotMatchIsNotMerged() {
        Profile counts(1), ranking(1), wider(1);
        counts.layer(0) = {{1, 2}, {}, 2, true};
        ranking.layer(0) = {{100, 200}, {}, 0, false};
        wider.layer(0) = {{1, 1, 1}, {}, 1, true};
        Profile sum = counts;
        QVERIFY(!sum.merge(ranking));
        QVERIFY(!sum.merge(wider));
        QVERIFY(sum == counts);
    }

    void damagedOnesAreDeleted() {
        QVERIFY(!Profile::open(kModel, sidecars()).has_value());
        Profile impossible(1);
        impossible.layer(0) = {{5}, {}, 4, true};   // fired more often than there were tokens
        impossible.save(kModel, sidecars());
        std::string why;
        QVERIFY(!Profile::open(kModel, sidecars(), &why).has_value());
        QVERIFY(!why.empty());
        QVERIFY(sidecars().list().empty());

        gguf::Writer writer;
        const std::vector<float> floats{1, 2};
        const uint64_t ne[] = {2};
        writer.addTensor("tokens", gguf::Type::F32, ne, std::as_bytes(std::span(floats)));
        sidecars().write(kModel, {"profile", 1}, writer);
        QVERIFY(!Profile::open(kModel, sidecars()).has_value());
        QVERIFY(sidecars().list().empty());
    }
};

QTEST_APPLESS_MAIN(TestProfile)
#include "test_profile.moc"
