#include <QElapsedTimer>
#include <QtTest>

#include "template_cases.h"

using namespace hearth::text;
using namespace hearth::text::test;

/// The template language, snippet by snippet; the expected texts are those of Jinja2.
class TestJinjaFeatures : public QObject {
    Q_OBJECT
private slots:
    void snippet_data();
    void snippet();
    void hostileOnesEnd_data();
    void hostileOnesEnd();

private:
    static void addRows(bool must_end);
};

namespace {

nlohmann::ordered_json& features() {
    static nlohmann::ordered_json json;
    const auto path = fixtures() / "jinja/features.json";
    if (json.is_null() && std::filesystem::exists(path)) json = readJson(path);
    return json;
}

std::string renderSnippet(const std::string& source) {
    const Rendered rendered = ChatTemplate::parse(source).render(features().at("vars"), fixtureTime());
    return joined(rendered) == rendered.text ? rendered.text : "the segments are not the text";
}

/// Peak memory of this process in MiB since resetPeak(), 0 where it cannot be told.
size_t peakMiB() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) >> 10;
    return 0;
}

void resetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

void TestJinjaFeatures::addRows(bool must_end) {
    QTest::addColumn<int>("index");
    if (features().is_null()) QSKIP("the fixtures are not there: jinja/features.json");
    int index = 0;
    for (const auto& c : features().at("cases")) {
        if (c.value("must_end", false) == must_end) {
            const std::string name = std::to_string(index) + " " + c.at("group").get<std::string>() + " " +
                                     c.at("template").get<std::string>().substr(0, 60);
            QTest::newRow(name.c_str()) << index;
        }
        ++index;
    }
}

void TestJinjaFeatures::snippet_data() { addRows(false); }

void TestJinjaFeatures::snippet() {
    QFETCH(int, index);
    const auto& c = features().at("cases").at(static_cast<size_t>(index));
    const auto source = c.at("template").get<std::string>();
    if (c.contains("expected")) {
        std::string text;
        try {
            text = renderSnippet(source);
        } catch (const TemplateError& error) {
            QFAIL(error.what());
        }
        const auto& expected = c["expected"].get_ref<const std::string&>();
        QVERIFY2(text == expected, difference(text, expected).c_str());
    } else if (c.value("error", "") == "raise_exception") {
        try {
            renderSnippet(source);
            QFAIL("no error");
        } catch (const TemplateRefusal& refusal) {
            QCOMPARE(refusal.message(), c.value("message", ""));
            QVERIFY(refusal.line() >= 1);
        }
    } else {
        QVERIFY_THROWS_EXCEPTION(TemplateError, renderSnippet(source));
    }
}

void TestJinjaFeatures::hostileOnesEnd_data() { addRows(true); }

void TestJinjaFeatures::hostileOnesEnd() {
    QFETCH(int, index);
    const auto source = features().at("cases").at(static_cast<size_t>(index)).at("template").get<std::string>();
    resetPeak();
    QElapsedTimer timer;
    timer.start();
    try {
        qInfo("gives %zu bytes", renderSnippet(source).size());
    } catch (const TemplateError& error) {
        qInfo("%.150s", error.what());
    }
    const auto elapsed = timer.elapsed();
    qInfo("%lld ms, peak %zu MiB", static_cast<long long>(elapsed), peakMiB());
    if (!kSanitized) {
        QVERIFY(elapsed < 2000);
        QVERIFY(peakMiB() < 256);
    }
}

QTEST_GUILESS_MAIN(TestJinjaFeatures)
#include "test_jinja_features.moc"
