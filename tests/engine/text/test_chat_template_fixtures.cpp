#include <QtTest>

#include "template_cases.h"

using namespace hearth::text;
using namespace hearth::text::test;

/// Published templates and conversations; the expected texts are those of Jinja2.
class TestChatTemplateFixtures : public QObject {
    Q_OBJECT
private slots:
    void rendersToTheByte_data();
    void rendersToTheByte();
};

void TestChatTemplateFixtures::rendersToTheByte_data() {
    QTest::addColumn<QString>("path");
    const auto dir = fixtures() / "chat-templates";
    if (!std::filesystem::exists(dir)) QSKIP("the fixtures are not there: chat-templates");
    for (const auto& entry : std::filesystem::directory_iterator(dir))
        if (entry.path().extension() == ".json")
            QTest::newRow(entry.path().stem().c_str()) << QString::fromStdString(entry.path().string());
}

void TestChatTemplateFixtures::rendersToTheByte() {
    QFETCH(QString, path);
    const std::filesystem::path file = path.toStdString();
    const auto fixture = readJson(file);
    const auto chat = ChatTemplate::parse(readFile(std::filesystem::path(file).replace_extension(".jinja")));
    Failures failures;
    for (const auto& c : fixture.at("cases")) {
        ++failures.cases;
        const std::string name = c.at("name").get<std::string>();
        try {
            const Rendered rendered = chat.render(contextOf(c), fixtureTime());
            if (joined(rendered) != rendered.text) failures.add(name, "the segments are not the text");
            if (c.contains("expected")) {
                const auto& expected = c["expected"].get_ref<const std::string&>();
                if (rendered.text != expected) failures.add(name, difference(rendered.text, expected));
            } else if (c.value("error_kind", "") == "raise_exception") {
                failures.add(name, "the template refuses, we did not");
            }
        } catch (const TemplateRefusal& refusal) {
            if (c.value("error_kind", "") != "raise_exception") failures.add(name, refusal.what());
            else if (refusal.message() != c.value("message", ""))
                failures.add(name, "other message: " + refusal.message());
        } catch (const TemplateError& error) {
            if (c.value("error_kind", "") != "runtime") failures.add(name, error.what());
        }
    }
    QVERIFY2(failures.count == 0, qPrintable(QString("%1 of %2 cases fail").arg(failures.count).arg(failures.cases)));
    QVERIFY(failures.cases > 0);
}

QTEST_GUILESS_MAIN(TestChatTemplateFixtures)
#include "test_chat_template_fixtures.moc"
