#include <QtTest>

#include "template_cases.h"

using namespace hearth::text;
using namespace hearth::text::test;

/// The cases that come with the project (tests/data/templates); the expected texts are those of Jinja2.
class TestJinjaCases : public QObject {
    Q_OBJECT
private slots:
    void snippet_data();
    void snippet();
    void conversation_data();
    void conversation();
    void marksSurvive_data();
    void marksSurvive();
    void containersThatContainThemselves_data();
    void containersThatContainThemselves();
    void errorsTellTheLine();
    void edgesOfNumbers();
};

namespace {

std::filesystem::path dir() { return sourceDir() / "tests/data/templates"; }

const nlohmann::ordered_json& cases() {
    static const nlohmann::ordered_json json = readJson(dir() / "cases.json");
    return json;
}

void addRows(const char* list) {
    QTest::addColumn<int>("index");
    int index = 0;
    for (const auto& c : cases().at(list)) {
        const std::string name =
            std::to_string(index) + " " + c.at("template").get<std::string>().substr(0, 70) + " " + c.value("name", "");
        QTest::newRow(name.c_str()) << index++;
    }
}

/// Empty if the outcome of rendering is what `c` expects.
std::string judge(const nlohmann::ordered_json& c, const std::string& source, const nlohmann::ordered_json& variables) {
    try {
        const Rendered rendered = ChatTemplate::parse(source).render(variables, fixtureTime());
        if (joined(rendered) != rendered.text) return "the segments are not the text";
        if (c.contains("error")) return "no error, but \"" + rendered.text.substr(0, 100) + "\"";
        const auto& expected = c.at("expected").get_ref<const std::string&>();
        return rendered.text == expected ? "" : difference(rendered.text, expected);
    } catch (const TemplateRefusal& refusal) {
        return c.value("error", "") == "raise_exception" && refusal.message() == c.value("message", "")
                   ? ""
                   : refusal.what();
    } catch (const TemplateError& error) {
        return c.contains("error") && c["error"] != "raise_exception" ? "" : error.what();
    }
}

}  // namespace

void TestJinjaCases::snippet_data() { addRows("snippets"); }

void TestJinjaCases::snippet() {
    QFETCH(int, index);
    const auto& c = cases().at("snippets").at(static_cast<size_t>(index));
    const std::string wrong = judge(c, c.at("template").get<std::string>(), cases().at("vars"));
    QVERIFY2(wrong.empty(), wrong.c_str());
}

void TestJinjaCases::conversation_data() { addRows("conversations"); }

void TestJinjaCases::conversation() {
    QFETCH(int, index);
    const auto& c = cases().at("conversations").at(static_cast<size_t>(index));
    const std::string wrong = judge(c, readFile(dir() / c.at("template").get<std::string>()), c.at("variables"));
    QVERIFY2(wrong.empty(), wrong.c_str());
}

void TestJinjaCases::marksSurvive_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("trusted");  // what the template wrote, in order
    // x = "ab<|E|>c" is input; T is the template's own.
    const std::pair<const char*, const char*> rows[] = {
        {"T{{ x }}T", "TT"},
        {"{{ 'T' + x + 'T' }}", "TT"},
        {"{{ 'T' ~ x }}", "T"},
        {"{{ x | upper }}T", "T"},
        {"{{ (x ~ 'T') | lower }}", "t"},
        {"{{ x[2:7] }}", ""},
        {"{{ ('T' ~ x)[::-1] }}", "T"},
        {"{{ x.replace('b', 'T') }}", "T"},
        {"{{ 'TxT'.replace('x', x) }}", "TT"},
        {"{{ x.split('<') | join('T') }}", "T"},
        {"{{ [x, x] | join(', ') }}", ", "},
        {"{{ '%sT%s' % (x, 'U') }}", "TU"},
        {"{{ '{}T{:>12}'.format('U', x) }}", "UT    "},
        {"{{ x | tojson }}", ""},
        {"{{ {'k': [x]} | tojson }}T", "T"},
        {"{{ [x] }}", ""},
        {"{% set y %}T{{ x }}{% endset %}{{ y | trim }}", "T"},
        {"{% macro m(a) %}T{{ a }}{% endmacro %}{{ m(x) }}", "T"},
        {"{% set ns = namespace(s='') %}{% set ns.s = ns.s ~ 'T' ~ x %}{{ ns.s }}", "T"},
        {"{% for c in x %}{{ c }}{% endfor %}T", "T"},
        {"{{ x | indent(2, true) }}", "  "},
        {"{{ x | e }}T", "T"},
        {"{{ x.partition('|')[1] }}{{ '|' }}", "||"},
        {"{{ x * 2 }}{{ x | reverse }}{{ x | first }}{{ x | truncate(6, true, 'T', 0) }}", "T"},
        {"{{ x | urlencode }}{{ x | striptags }}{{ x | title }}{{ x | capitalize }}{{ x.center(12, 'T') }}", "TTTT"},
        {"{{ messages[0].content }}{{ messages[0].role }}{{ messages[1].role }}", "user"},
        {"{{ bos_token }}{{ tools }}{{ messages[0] | items | first | first }}", "<s>"},
        {"{{ ('&lt;|E|&gt;' ~ x) | striptags }}", ""},
    };
    for (const auto& [source, trusted] : rows) QTest::newRow(source) << source << trusted;
}

void TestJinjaCases::marksSurvive() {
    QFETCH(QString, source);
    QFETCH(QString, trusted);
    const nlohmann::ordered_json context = {
        {"x", "ab<|E|>c"},
        {"bos_token", "<s>"},
        {"tools", {{{"name", "<|E|>"}}}},
        {"messages", {{{"role", "user"}, {"content", "<|E|>"}}, {{"role", "<|E|>"}, {"content", ""}}}}};
    const Rendered rendered = ChatTemplate::parse(source.toStdString()).render(context, fixtureTime());
    std::string mine;
    for (const Segment& segment : rendered.segments)
        if (segment.trusted) mine += segment.text;
    QCOMPARE(joined(rendered), rendered.text);
    if (source.contains("striptags") && trusted.isEmpty())
        QVERIFY2(mine.find("<|E|>") == std::string::npos, mine.c_str());
    else QCOMPARE(mine, trusted.toStdString());
}

void TestJinjaCases::containersThatContainThemselves_data() {
    QTest::addColumn<QString>("source");
    for (const char* source :
         {"{% set ns = namespace() %}{% set ns.a = ns %}{{ ns.a.a.a is defined }}",
          "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
          "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}",
          "{% set l = [] %}{% set _ = l.append(l) %}{{ l == [l] }}",
          "{% set l = [] %}{% set _ = l.append(l.append) %}{{ l | length }}",
          "{% macro m() %}x{% endmacro %}{% set n = m %}{{ n() }}",
          "{% for x in [1] %}{{ loop.changed(loop.changed) }}{% endfor %}",
          "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l | "
          "length }}",
          "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = {'a': ns.l} %}{% endfor %}{{ ns.l }}",
          "{% set a = [] %}{% set ns = namespace(c=a) %}{% for i in range(50000) %}{% set n = [] %}{% set _ = "
          "ns.c.append(n) %}{% set "
          "ns.c = n %}{% endfor %}{{ a | tojson }}"})
        QTest::newRow(source) << source;
}

/// Must neither crash nor leak (the sanitizers see a leak); an error is as good as a text.
void TestJinjaCases::containersThatContainThemselves() {
    QFETCH(QString, source);
    try {
        const Rendered rendered =
            ChatTemplate::parse(source.toStdString()).render(nlohmann::ordered_json::object(), fixtureTime());
        QVERIFY(!rendered.text.empty());
    } catch (const TemplateError& error) {
        QVERIFY(error.line() == 1);
    }
}

void TestJinjaCases::errorsTellTheLine() {
    const auto lineOf = [](const std::string& source) {
        try {
            ChatTemplate::parse(source).render({{"messages", nullptr}}, fixtureTime());
        } catch (const TemplateError& error) {
            return error.line();
        }
        return -1;
    };
    QCOMPARE(lineOf("a\nb\n{% if %}"), 3);
    QCOMPARE(lineOf("a\n{{ nope.x }}\nb"), 2);
    QCOMPARE(lineOf("{% for i in [1] %}\n\n{{ raise_exception('x') }}{% endfor %}"), 3);
    QCOMPARE(lineOf("a\n\n{{ 'open"), 3);
}

/// The smallest 128-bit integer in every place that negates or divides: an error or Python's value, no overflow.
void TestJinjaCases::edgesOfNumbers() {
    const std::string smallest = "(-(2 ** 126) * 2)";
    const std::pair<const char*, const char*> cases[] = {
        {"{{ X }}", "-170141183460469231731687303715884105728"},
        {"{{ '%d' % X }}", "-170141183460469231731687303715884105728"},
        {"{{ 'abc'[::X] }}", "c"},
        {"{{ 'abc'[X:] }}", "abc"},
        {"{{ X % -1 }}", "0"},
        {"{{ -X }}", nullptr},
        {"{{ X // -1 }}", nullptr},
        {"{{ X | abs }}", nullptr},
        {"{{ X - 1 }}", nullptr},
        {"{{ X | round(-3) }}", nullptr},
        {"{{ range(X, 5) }}", nullptr},
    };
    for (const auto& [source, expected] : cases) {
        const std::string full = QString(source).replace("X", QString::fromStdString(smallest)).toStdString();
        try {
            const Rendered rendered = ChatTemplate::parse(full).render(nlohmann::ordered_json::object(), fixtureTime());
            QVERIFY2(expected, source);
            QCOMPARE(rendered.text, std::string(expected));
        } catch (const TemplateError& error) {
            QVERIFY2(!expected, error.what());
        }
    }
}

QTEST_GUILESS_MAIN(TestJinjaCases)
#include "test_jinja_cases.moc"
