#include <QTest>

#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/error.h"
#include "engine/text/splits.h"

using namespace hearth;

namespace {

using Way = std::tuple<uint32_t, size_t, uint32_t, uint32_t>;  // whole, at, left, right

std::vector<Way> waysOf(const std::vector<std::string>& texts) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::vector<Way> ways;
    text::Splits(views, {}).forEach(
        [&](uint32_t whole, size_t at, uint32_t left, uint32_t right) { ways.emplace_back(whole, at, left, right); });
    return ways;
}

/// The same by trying every text at every place.
std::set<Way> triedOut(const std::vector<std::string>& texts) {
    const auto first = [&](const std::string& wanted) {
        return static_cast<size_t>(std::find(texts.begin(), texts.end(), wanted) - texts.begin());
    };
    std::set<Way> ways;
    for (size_t i = 0; i < texts.size(); ++i)
        for (size_t at = 1; first(texts[i]) == i && at < texts[i].size(); ++at) {
            const size_t left = first(texts[i].substr(0, at)), right = first(texts[i].substr(at));
            if (left < texts.size() && right < texts.size())
                ways.emplace(static_cast<uint32_t>(i), at, static_cast<uint32_t>(left), static_cast<uint32_t>(right));
        }
    return ways;
}

std::string randomText(std::mt19937& random, const std::string& letters, size_t longest) {
    std::string text(1 + random() % longest, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
}

}  // namespace

class TestSplits : public QObject {
    Q_OBJECT

private slots:
    void small() {
        const std::vector<Way> ways = waysOf({"abc", "a", "bc", "ab", "c", "b"});
        QCOMPARE(ways, (std::vector<Way>{{3, 1, 1, 5}, {0, 1, 1, 2}, {0, 2, 3, 4}, {2, 1, 5, 4}}));
    }

    /// Equal texts, zero bytes, bytes above 127, and texts longer than what is sorted at once.
    void random_data() {
        QTest::addColumn<QByteArray>("letters");
        QTest::addColumn<int>("longest");
        QTest::newRow("two letters") << QByteArray("ab") << 6;
        QTest::newRow("one letter, long") << QByteArray("a") << 60;
        QTest::newRow("two letters, long") << QByteArray("\0\x01", 2) << 24;
        QTest::newRow("bytes") << QByteArray("\0\x80\xff\x7f", 4) << 5;
    }
    void random() {
        QFETCH(QByteArray, letters);
        QFETCH(int, longest);
        std::mt19937 random(7);
        for (int round = 0; round < 40; ++round) {
            std::vector<std::string> texts(1 + random() % 120);
            for (std::string& text : texts) text = randomText(random, letters.toStdString(), static_cast<size_t>(longest));
            const std::vector<Way> ways = waysOf(texts);
            const std::set<Way> found(ways.begin(), ways.end());
            QCOMPARE(found.size(), ways.size());
            QVERIFY(found == triedOut(texts));
            for (size_t i = 1; i < ways.size(); ++i)  // a text's ways stand together and go up
                if (std::get<0>(ways[i]) == std::get<0>(ways[i - 1])) QVERIFY(std::get<1>(ways[i]) > std::get<1>(ways[i - 1]));
        }
    }

    void none() { QVERIFY(waysOf({}).empty()); }

    void stops() {
        std::stop_source stop;
        stop.request_stop();
        const std::vector<std::string_view> texts{"a", "b"};
        QVERIFY_THROWS_EXCEPTION(Stopped, text::Splits(texts, stop.get_token()));
    }
};

QTEST_APPLESS_MAIN(TestSplits)
#include "test_splits.moc"
