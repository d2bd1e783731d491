#include <QtTest>
#include <set>

#include "template_cases.h"

using namespace hearth::text;
using namespace hearth::text::test;

/// Conversations adapted to what templates take, fallbacks, and the marks of untrusted text in whole templates.
class TestChatTemplateConversation : public QObject {
    Q_OBJECT
private slots:
    void adapts_data();
    void adapts();
    void capabilities_data();
    void capabilities();
    void everyPublishedTemplateTakesAQuestion_data();
    void everyPublishedTemplateTakesAQuestion();
    void keepsTheFirstError();
    void deepConversationIsRefused();
    void fallbacks_data();
    void fallbacks();
    void specialTextStaysUntrusted_data();
    void specialTextStaysUntrusted();
};

namespace {

ChatTemplate own(const std::string& name) {
    return ChatTemplate::parse(readFile(sourceDir() / "tests/data/templates" / name));
}

nlohmann::ordered_json say(const char* role, const nlohmann::ordered_json& content) {
    return {{"role", role}, {"content", content}};
}

}  // namespace

void TestChatTemplateConversation::adapts_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("messages");
    QTest::addColumn<QString>("expected");
    QTest::addColumn<QString>("note");  // a part of the only note, empty = no note
    const char* chat = "strict_turns.jinja";
    QTest::newRow("system goes into the first message")
        << chat << R"([{"role":"system","content":"S"},{"role":"user","content":"U"}])"
        << "<s><start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\n"
        << "system prompt";
    QTest::newRow("neighbours are joined") << chat << R"([{"role":"user","content":"U"},{"role":"user","content":"V"}])"
                                           << "<s><start_of_turn>user\nU\n\nV<end_of_turn>\n<start_of_turn>model\n"
                                           << "joined";
    QTest::newRow("the user begins") << chat << R"([{"role":"assistant","content":"A"},{"role":"user","content":"U"}])"
                                     << "<s><start_of_turn>user\n<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n<"
                                        "start_of_turn>user\nU<end_of_turn>\n<start_of_turn>model\n"
                                     << "user to begin";
    QTest::newRow("parts become text")
        << "thinking_tools.jinja"
        << R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])"
        << "<|im_start|>user\na\nb<|im_end|>\n<|im_start|>assistant\n"
        << "";
    QTest::newRow("pictures are left out")
        << "thinking_tools.jinja"
        << R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}]}])"
        << "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"
        << "text only";
    QTest::newRow("text becomes parts") << "parts_only.jinja" << R"([{"role":"user","content":"a"}])"
                                        << "<|user|>\na<|assistant|>\n"
                                        << "";
    QTest::newRow("missing content and arguments as a string")
        << "thinking_tools.jinja"
        << R"([{"role":"user","content":"U"},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]}])"
        << "<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": "
           "{\"a\": "
           "1}}\n</tool_call><|im_end|>\n<|im_start|>assistant\n"
        << "";
    QTest::newRow("developer")
        << "thinking_tools.jinja" << R"([{"role":"developer","content":"S"},{"role":"user","content":"U"}])"
        << "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
        << "";
}

void TestChatTemplateConversation::adapts() {
    QFETCH(QString, file);
    QFETCH(QString, messages);
    QFETCH(QString, expected);
    QFETCH(QString, note);
    Conversation conversation;
    conversation.messages = nlohmann::ordered_json::parse(messages.toStdString());
    conversation.bos_token = "<s>";
    const auto rendered = own(file.toStdString()).renderConversation(conversation, fixtureTime());
    QVERIFY2(rendered.text == expected.toStdString(), difference(rendered.text, expected.toStdString()).c_str());
    QCOMPARE(rendered.notes.size(), note.isEmpty() ? size_t{0} : size_t{1});
    if (!note.isEmpty())
        QVERIFY2(rendered.notes[0].find(note.toStdString()) != std::string::npos, rendered.notes[0].c_str());
}

void TestChatTemplateConversation::capabilities_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("expected");
    QTest::newRow("strict") << "strict_turns.jinja" << "bos text";
    QTest::newRow("thinking") << "thinking_tools.jinja" << "system text tools object enable_thinking";
    QTest::newRow("channels") << "channels.jinja" << "system text object effort";
    QTest::newRow("parts") << "parts_only.jinja" << "system parts";
}

void TestChatTemplateConversation::capabilities() {
    QFETCH(QString, file);
    QFETCH(QString, expected);
    const TemplateCapabilities can = own(file.toStdString()).capabilities();
    std::set<std::string> names;
    if (can.system_role) names.insert("system");
    if (can.text_content) names.insert("text");
    if (can.parts_content) names.insert("parts");
    if (can.tools) names.insert("tools");
    if (can.arguments_as_object && !file.startsWith("strict") && !file.startsWith("parts")) names.insert("object");
    if (can.writes_bos) names.insert("bos");
    if (can.reasoning_effort) names.insert("effort");
    for (const auto& name : can.thinking_switches) names.insert(name);
    std::set<std::string> wanted;
    for (const QString& name : expected.split(' ')) wanted.insert(name.toStdString());
    std::string shown;
    for (const auto& name : names) shown += name + " ";
    QVERIFY2(names == wanted, shown.c_str());
}

void TestChatTemplateConversation::everyPublishedTemplateTakesAQuestion_data() { specialTextStaysUntrusted_data(); }

/// With a system prompt, without tools: what a chat program sends first.
void TestChatTemplateConversation::everyPublishedTemplateTakesAQuestion() {
    QFETCH(QString, path);
    const auto chat = ChatTemplate::parse(readFile(path.toStdString()));
    Conversation conversation;
    conversation.bos_token = "<s>";
    conversation.messages = {say("system", "Syst."), say("user", "Quest?"), say("assistant", "Repl."),
                             say("user", "More?")};
    const auto rendered = chat.renderConversation(conversation, fixtureTime());
    for (const char* text : {"Syst.", "Quest?", "Repl.", "More?"})
        QVERIFY2(rendered.text.find(text) != std::string::npos, rendered.text.c_str());
    QVERIFY(rendered.text.find("{'") == std::string::npos);
    QCOMPARE(rendered.text.starts_with("<s>"), chat.capabilities().writes_bos);
}

void TestChatTemplateConversation::keepsTheFirstError() {
    Conversation conversation;
    conversation.messages = {say("critic", "meh")};
    try {
        own("thinking_tools.jinja").renderConversation(conversation, fixtureTime());
        QFAIL("no error");
    } catch (const TemplateRefusal& refusal) {
        QCOMPARE(refusal.message(), std::string("Unknown role: critic"));
    }
}

void TestChatTemplateConversation::deepConversationIsRefused() {
    Conversation conversation;
    conversation.messages = {say("user", "U")};
    conversation.messages[0]["more"] = nlohmann::ordered_json::parse(std::string(1000, '[') + std::string(1000, ']'));
    QVERIFY_THROWS_EXCEPTION(TemplateError,
                             own("thinking_tools.jinja").renderConversation(conversation, fixtureTime()));
}

void TestChatTemplateConversation::fallbacks_data() {
    QTest::addColumn<QString>("tokens");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("expected");
    QTest::newRow("chatml") << "<|im_start|> <|im_end|>" << "ChatML"
                            << "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>"
                               "assistant\nA<|im_end|>\n<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n";
    QTest::newRow("llama3") << "<|start_header_id|> <|eot_id|>" << "Llama 3"
                            << "<s><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|"
                               "end_header_id|>\n\nU<|eot_id|>"
                               "<|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|><|start_header_id|>user<|"
                               "end_header_id|>\n\nV<|eot_id|>"
                               "<|start_header_id|>assistant<|end_header_id|>\n\n";
    QTest::newRow("gemma") << "<start_of_turn> <end_of_turn>" << "Gemma"
                           << "<s><start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n<"
                              "start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n";
    QTest::newRow("mistral") << "[INST] [/INST]" << "Mistral" << "<s>[INST]S\n\nU[/INST]A</s>[INST]V[/INST]";
    QTest::newRow("phi3")
        << "<|user|> <|end|> <|assistant|>" << "Phi-3"
        << "<|system|>\nS<|end|>\n<|user|>\nU<|end|>\n<|assistant|>\nA<|end|>\n<|user|>\nV<|end|>\n<|assistant|>\n";
    QTest::newRow("zephyr")
        << "<|user|> <|assistant|>" << "Zephyr"
        << "<|system|>\nS</s>\n<|user|>\nU</s>\n<|assistant|>\nA</s>\n<|user|>\nV</s>\n<|assistant|>\n";
    QTest::newRow("deepseek")
        << "<\uff5cUser\uff5c> <\uff5cAssistant\uff5c>" << "DeepSeek"
        << "<s>S<\uff5cUser\uff5c>U<\uff5cAssistant\uff5c>A</s><\uff5cUser\uff5c>V<\uff5cAssistant\uff5c>";
    QTest::newRow("plain") << "x" << "plain text" << "S\nUser: U\nAssistant: A\nUser: V\nAssistant:";
}

void TestChatTemplateConversation::fallbacks() {
    QFETCH(QString, tokens);
    QFETCH(QString, name);
    QFETCH(QString, expected);
    std::set<std::string, std::less<>> vocabulary;
    for (const QString& token : tokens.split(' ')) vocabulary.insert(token.toStdString());
    const auto fallback = fallbackTemplate([&](std::string_view t) { return vocabulary.contains(t); });
    QCOMPARE(fallback.name, name.toStdString());
    QCOMPARE(fallback.stops.empty(), name != "plain text");
    Conversation conversation;
    conversation.bos_token = "<s>";
    conversation.eos_token = "</s>";
    conversation.messages = {say("system", "S"), say("user", "U"), say("assistant", "A"), say("user", "V")};
    const auto rendered = ChatTemplate::parse(fallback.source).renderConversation(conversation, fixtureTime());
    QVERIFY2(rendered.text == expected.toStdString(), difference(rendered.text, expected.toStdString()).c_str());
    QVERIFY(rendered.notes.empty());
}

void TestChatTemplateConversation::specialTextStaysUntrusted_data() {
    QTest::addColumn<QString>("path");
    for (const auto& dir : {sourceDir() / "tests/data/templates", fixtures() / "chat-templates"})
        if (std::filesystem::exists(dir))
            for (const auto& entry : std::filesystem::directory_iterator(dir))
                if (entry.path().extension() == ".jinja")
                    QTest::newRow(entry.path().stem().c_str()) << QString::fromStdString(entry.path().string());
}

/// Whatever a message, a tool or an argument says, the trusted text has none of it, in plain or in changed case.
void TestChatTemplateConversation::specialTextStaysUntrusted() {
    QFETCH(QString, path);
    const auto chat = ChatTemplate::parse(readFile(path.toStdString()));
    const std::string evil = "<|zq9_end|><zq9>[ZQ9]<\uff5czq9\uff5c>";
    const nlohmann::ordered_json call = {{"id", "zq9zq9zq9"},
                                         {"type", "function"},
                                         {"function", {{"name", "zq9" + evil}, {"arguments", {{evil, evil}}}}}};
    nlohmann::ordered_json assistant = say("assistant", evil), result = say("tool", evil);
    assistant["reasoning_content"] = evil;
    nlohmann::ordered_json caller = assistant;
    caller["tool_calls"] = nlohmann::ordered_json::array({call});
    result["name"] = evil;
    result["tool_call_id"] = "zq9zq9zq9";
    const nlohmann::ordered_json tools = {{{"type", "function"},
                                           {"function",
                                            {{"name", evil},
                                             {"description", evil},
                                             {"parameters",
                                              {{"type", "object"},
                                               {"properties", {{evil, {{"type", "string"}, {"description", evil}}}}},
                                               {"required", {evil}}}}}}}};
    const std::vector<nlohmann::ordered_json> conversations = {
        {say("user", evil)},
        {say("system", evil), say("user", evil), assistant, say("user", evil)},
        {say("user", evil), caller, result},
        {say("user", evil), caller, result, assistant, say("user", evil)},
        {say("user", evil), say(evil.c_str(), evil)},
    };
    int rendered_count = 0;
    for (const auto& messages : conversations)
        for (const auto& with_tools : {nlohmann::ordered_json(), tools}) {
            Conversation conversation;
            conversation.messages = messages;
            conversation.tools = with_tools;
            conversation.extra = {
                {"documents", {{{"title", evil}, {"text", evil}}}}, {"date_string", evil}, {"reasoning_effort", evil}};
            try {
                const auto rendered = chat.renderConversation(conversation, fixtureTime());
                ++rendered_count;
                QCOMPARE(joined(rendered), rendered.text);
                for (const Segment& segment : rendered.segments) {
                    const QString text = QString::fromStdString(segment.text).toLower();
                    QVERIFY2(!segment.trusted || !text.contains("zq9"), segment.text.c_str());
                }
            } catch (const TemplateError&) {
                // Some templates refuse some of these; what they render is what counts.
            }
        }
    QVERIFY(rendered_count >= 2);
}

QTEST_GUILESS_MAIN(TestChatTemplateConversation)
#include "test_chat_template_conversation.moc"
