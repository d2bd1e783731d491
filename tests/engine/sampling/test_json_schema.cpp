#include <QByteArray>
#include <QElapsedTimer>
#include <QTest>

#include "cases.h"
#include "engine/base/error.h"
#include "engine/sampling/grammar_state.h"
#include "engine/sampling/json_schema.h"

using namespace hearth::sampling;
using cases::Json;

class TestJsonSchema : public QObject {
    Q_OBJECT

    std::vector<cases::Source> sources_ = cases::both("grammar/cases.json");

private slots:
    void counts();
    void documents_data();
    void documents();
    void refused_data();
    void refused();
    void hostile_data();
    void hostile();
};

void TestJsonSchema::counts() {
    QVERIFY(!sources_.empty() && sources_[0].name == "own");
    if (sources_.size() < 2) QSKIP("the fixture set is not beside this checkout (HEARTH_FIXTURES)");
    size_t accept = 0, reject = 0;
    for (const Json& test : sources_[1].content["json_schema"]) {
        accept += test["accept"].size();
        reject += test["reject"].size();
    }
    QCOMPARE(sources_[1].content["json_schema"].size(), size_t{70});
    QCOMPARE(accept, size_t{175});
    QCOMPARE(reject, size_t{254});
}

void TestJsonSchema::documents_data() {
    QTest::addColumn<QByteArray>("test");
    for (const auto& source : sources_)
        for (const Json& test : source.content["json_schema"])
            QTest::addRow("%s: %s", source.name.c_str(), test["name"].get<std::string>().c_str())
                << QByteArray::fromStdString(test.dump());
}

void TestJsonSchema::documents() {
    QFETCH(QByteArray, test);
    const Json c = Json::parse(test.toStdString());
    std::string text;
    try {
        text = grammarFromSchema(c["schema"].dump());
    } catch (const hearth::Error& error) {
        QVERIFY2(c["accept"].empty(), error.what());   // a schema that nothing fulfils may be refused
        return;
    }
    const auto grammar = Grammar::parse(text);
    const auto matches = [&](const Json& document) {
        GrammarState state(grammar);
        return state.acceptText(document.get<std::string>()) && state.mayEnd();
    };
    for (const Json& document : c["accept"])
        QVERIFY2(matches(document),
                 qPrintable("accept " + QString::fromStdString(document.get<std::string>() + "\n" + text)));
    for (const Json& document : c["reject"])
        QVERIFY2(!matches(document),
                 qPrintable("reject " + QString::fromStdString(document.get<std::string>() + "\n" + text)));
}

void TestJsonSchema::refused_data() {
    QTest::addColumn<QString>("schema");
    QTest::addColumn<QString>("keyword");
    const auto add = [](const char* keyword, const char* schema) {
        QTest::addRow("%s: %s", keyword, schema) << schema << keyword;
    };
    add("not", R"({"not": {"type": "string"}})");
    add("if", R"({"if": {"type": "string"}, "then": {"maxLength": 3}})");
    add("patternProperties", R"({"type": "object", "patternProperties": {"^a": {}}})");
    add("uniqueItems", R"({"type": "array", "uniqueItems": true})");
    add("contains", R"({"type": "array", "contains": {"type": "string"}})");
    add("multipleOf", R"({"type": "integer", "multipleOf": 7})");
    add("minLenght", R"({"type": "string", "minLenght": 3})");
    add("dependentRequired", R"({"properties": {"a": {"dependentRequired": {"a": ["b"]}}}})");
    add("format", R"({"type": "string", "format": "iri"})");
    add("pattern", R"({"type": "string", "pattern": "^(?=a)b$"})");
    add("pattern", R"({"type": "string", "pattern": "(a)\\1"})");
    add("pattern", R"({"type": "string", "pattern": "\\bword\\b"})");
    add("pattern", R"({"type": "string", "pattern": "^a$", "maxLength": 3})");
    add("pattern", R"({"type": "string", "pattern": "(("})");
    add("$ref", R"({"$ref": "other.json"})");
    add("$ref", R"({"$ref": "#/$defs/nothere"})");
    add("$ref", R"({"$ref": "#"})");
    add("$ref", R"({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"})");
    add("oneOf", R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})");
    add("oneOf", R"({"oneOf": [{"type": "string"}, {"maxLength": 3}]})");
    add("type", R"({"type": "strin"})");
    add("minItems", R"({"type": "array", "minItems": -1})");
    add("minProperties", R"({"type": "object", "minProperties": 2})");
    add("enum", R"({"enum": "a"})");
    add("JSON", R"({"type": )");
    add("no value", R"({"type": "integer", "minimum": 3, "maximum": 2})");
    add("no value", R"(false)");
    add("schema must be", R"({"properties": {"a": 3}, "type": "object"})");
}

/// What cannot be honoured is said before the first token, by name.
void TestJsonSchema::refused() {
    QFETCH(QString, schema);
    QFETCH(QString, keyword);
    try {
        const auto grammar = Grammar::parse(grammarFromSchema(schema.toStdString()));
        QFAIL("accepted");
    } catch (const hearth::Error& error) {
        QVERIFY2(QString::fromStdString(error.why()).contains(keyword), error.what());
    }
}

void TestJsonSchema::hostile_data() {
    QTest::addColumn<QByteArray>("schema");
    const auto nested = [](const std::string& open, const std::string& inner, const std::string& close, int n) {
        std::string text;
        for (int i = 0; i < n; ++i) text += open;
        text += inner;
        for (int i = 0; i < n; ++i) text += close;
        return QByteArray::fromStdString(text);
    };
    /// Each definition is made of the next one twice.
    const auto doubling = [](const std::string& keyword, const std::string& last) {
        std::string text = "{\"$ref\": \"#/$defs/d0\", \"$defs\": {";
        for (int i = 0; i < 50; ++i) {
            const std::string next = "{\"$ref\": \"#/$defs/d" + std::to_string(i + 1) + "\"}";
            text += "\"d" + std::to_string(i) + "\": {\"" + keyword + "\": [" + next + ", " + next + "]}, ";
        }
        return QByteArray::fromStdString(text + "\"d50\": " + last + "}}");
    };
    QTest::addRow("brackets") << nested("[", "", "]", 100000);
    QTest::addRow("deep items") << nested(R"({"items": )", "{}", "}", 400);
    QTest::addRow("deep allOf") << nested(R"({"allOf": [)", "{}", "]}", 240);
    QTest::addRow("anyOf doubles") << doubling("anyOf", R"({"type": "integer"})");
    QTest::addRow("anyOf doubles nothing") << doubling("anyOf", "false");
    QTest::addRow("oneOf doubles") << doubling("oneOf", R"({"type": "object"})");
    QTest::addRow("allOf doubles") << doubling("allOf", R"({"minimum": 3})");
    QTest::addRow("grows in a circle") << QByteArray(
        R"({"$defs": {"a": {"type": "object", "properties": {"x": {"allOf": [{"$ref": "#/$defs/a"}, {"properties":)"
        R"( {"x": {"$ref": "#/$defs/a"}}}]}}}}, "$ref": "#/$defs/a"})");
    QTest::addRow("long string") << QByteArray(R"({"type": "string", "minLength": 99999999})");
    QTest::addRow("many items") << QByteArray(
        R"({"items": {"maxItems": 50000, "items": {"maxLength": 50000}}, "maxItems": 50000})");
    QTest::addRow("pattern repeats") << QByteArray(R"j({"pattern": "((((a{1000}){1000}){1000}){1000})"})j");
    QTest::addRow("pattern parentheses") << "{\"pattern\": \"" + nested("(", "a", ")", 50000) + "\"}";
    QTest::addRow("long name") << "{\"properties\": {\"" + QByteArray(50000, 'x') +
                                      "\": {}}, \"additionalProperties\": true}";
    QTest::addRow("half a character") << QByteArray("{\"const\": \"\xC3\"}");
    QTest::addRow("large number") << QByteArray(R"({"type": "integer", "minimum": 1e400})");
}

/// Any answer, an error included, but a quick one and no crash.
void TestJsonSchema::hostile() {
    QFETCH(QByteArray, schema);
    QElapsedTimer timer;
    timer.start();
    try {
        GrammarState state(Grammar::parse(grammarFromSchema(schema.toStdString())));
        for (int i = 0; i < 50; ++i)
            for (const char* text : {"{", "\"x", "[", "1", "a"})
                if (state.acceptText(text)) break;
    } catch (const hearth::Error& error) {
        QVERIFY(!error.why().empty());
    }
    QVERIFY2(timer.elapsed() < 20 * 2000, qPrintable(QString::number(timer.elapsed())));
}

QTEST_APPLESS_MAIN(TestJsonSchema)
#include "test_json_schema.moc"
