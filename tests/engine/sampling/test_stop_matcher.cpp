#include <QTest>

#include "engine/sampling/random.h"
#include "engine/sampling/stop_matcher.h"

using hearth::sampling::StopMatcher;

class TestStopMatcher : public QObject {
    Q_OBJECT

private slots:
    void acrossBorders();
    void anyCut();
    void nothingToStop();
};

void TestStopMatcher::acrossBorders() {
    StopMatcher matcher({"<|end|>", "User:"});
    QCOMPARE(matcher.push("Hello <"), std::string("Hello "));
    QCOMPARE(matcher.push("b> and <|e"), std::string("<b> and "));
    QCOMPARE(matcher.push("nd|"), std::string());
    QVERIFY(!matcher.stopped());
    QCOMPARE(matcher.push(">more"), std::string());
    QVERIFY(matcher.stopped());
    QCOMPARE(matcher.hit(), std::string_view("<|end|>"));
    QCOMPARE(matcher.push("x"), std::string());
    QCOMPARE(matcher.finish(), std::string());
    matcher.reset();
    QVERIFY(!matcher.stopped());
    QCOMPARE(matcher.push("a Us"), std::string("a "));
    QCOMPARE(matcher.finish(), std::string("Us"));
}

/// However the text is cut, what is shown is the text up to the first stop string, and never a part of one too much.
void TestStopMatcher::anyCut() {
    hearth::sampling::Random random(1);
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (int i = 0; i < 30; ++i) text += "abc"[static_cast<size_t>(random.uniform() * 3)];
        const std::vector<std::string> stops{"abca", "cb", "aaab"};
        size_t end = std::string::npos;   // the stop string that is complete first, found by trying every end
        std::string hit;
        for (size_t last = 1; last <= text.size() && hit.empty(); ++last)
            for (const std::string& stop : stops)
                if (text.substr(0, last).ends_with(stop) && (hit.empty() || stop.size() > hit.size()))
                    hit = stop, end = last - stop.size();
        StopMatcher matcher(stops);
        std::string shown;
        for (size_t at = 0; at < text.size() && !matcher.stopped(); ++at) {
            shown += matcher.push(text.substr(at, 1));
            QVERIFY(text.starts_with(shown));
            QVERIFY(shown.size() <= end);
        }
        QCOMPARE(std::string(matcher.hit()), hit);
        QCOMPARE(shown + matcher.finish(), text.substr(0, end));
    }
}

void TestStopMatcher::nothingToStop() {
    StopMatcher none({});
    QCOMPARE(none.push("anything"), std::string("anything"));
    StopMatcher empty({""});   // an empty stop string stops nothing
    QCOMPARE(empty.push("x"), std::string("x"));
    QVERIFY(!empty.stopped());
}

QTEST_APPLESS_MAIN(TestStopMatcher)
#include "test_stop_matcher.moc"
