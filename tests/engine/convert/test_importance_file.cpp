#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

#include "engine/base/error.h"
#include "engine/convert/importance_file.h"
#include "engine/gguf/writer.h"

using namespace hearth;

/// Importance matrices: sums and counts in, mean squares out.
class TestImportanceFile : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    struct Made {
        std::string type = "imatrix";
        std::vector<float> sums = {2, 4, 6, 8, 10, 12};   // two experts of three columns
        std::vector<float> counts = {2, 0};               // the second expert saw nothing
        bool counted = true;
    };

    std::filesystem::path write(const Made& made) const {
        const std::filesystem::path path = folder_.filePath("imatrix.gguf").toStdString();
        gguf::Writer writer;
        writer.set("general.type", made.type);
        const auto add = [&writer](const char* name, std::vector<uint64_t> ne, const std::vector<float>& values) {
            writer.addTensor(name, gguf::Type::F32, ne, std::as_bytes(std::span(values)));
        };
        add("blk.0.ffn_up_exps.weight.in_sum2", {made.sums.size() / 2, 2}, made.sums);
        if (made.counted) add("blk.0.ffn_up_exps.weight.counts", {1, made.counts.size()}, made.counts);
        writer.write(path);
        return path;
    }

private slots:
    void meanSquares() {
        const convert::Importance importance = convert::readImportance(write({}));
        QCOMPARE(importance.size(), size_t{1});
        const std::vector<float> want{1, 2, 3, 1, 1, 1};
        QVERIFY(importance.at("blk.0.ffn_up_exps.weight") == want);
    }

    void refused() {
        const std::pair<const char*, Made> cases[] = {{"a model", {.type = "model"}},
                                                      {"no counts", {.counted = false}},
                                                      {"too few counts", {.counts = {2}}},
                                                      {"negative", {.sums = {2, 4, -6, 8, 10, 12}}},
                                                      {"not finite", {.sums = {2, 4, NAN, 8, 10, 12}}}};
        for (const auto& [name, made] : cases) {
            const std::filesystem::path path = write(made);
            bool thrown = false;
            try {
                convert::readImportance(path);
            } catch (const Error&) {
                thrown = true;
            }
            QVERIFY2(thrown, name);
        }
        QVERIFY_THROWS_EXCEPTION(Error, convert::readImportance(folder_.filePath("absent").toStdString()));
    }
};

QTEST_GUILESS_MAIN(TestImportanceFile)
#include "test_importance_file.moc"
