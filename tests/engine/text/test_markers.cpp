#include <QtTest>

#include "engine/text/markers.h"
#include "template_cases.h"

using namespace hearth::text;
using namespace hearth::text::test;

/// Tags of streamed text, for each style of markers and each place where the stream may be cut.
class TestMarkers : public QObject {
    Q_OBJECT
private slots:
    void styles_data();
    void styles();
    void holdsBackOnlyWhatCouldBeAMarker();
    void publishedTemplates_data();
    void publishedTemplates();
};

namespace {

constexpr Tag A = Tag::Answer, T = Tag::Thinking, C = Tag::ToolCall;

struct Style {
    const char *name, *source, *prompt, *generated;
    std::vector<Piece> expected;
};

const std::vector<Style>& allStyles() {
    static const std::vector<Style> styles = {
        {"no markers", "{{ x }}", "", "a <think> b", {{A, "a <think> b"}}},
        {"think",
         "<think>",
         "<|im_start|>assistant\n",
         "<think>\nhm, 1 < 2\n</think>\n\nYes.\n",
         {{T, "hm, 1 < 2"}, {A, "Yes.\n"}}},
        {"think, opened by the prompt",
         "</think>",
         "<|im_start|>assistant\n<think>\n",
         "hm</think>\n\n  code",
         {{T, "hm"}, {A, "  code"}}},
        {"think, closed by the prompt", "<think>", "assistant\n<think>\n\n</think>\n\n", "Yes", {{A, "Yes"}}},
        {"think, never closed", "<think>", "", "<think>hm </thin", {{T, "hm </thin"}}},
        {"think, empty", "<think>", "", "<think>\n\n</think>\n\nYes", {{A, "Yes"}}},
        {"think twice", "<think>", "", "<think>a</think>b<think>c</think>d", {{T, "a"}, {A, "b"}, {T, "c"}, {A, "d"}}},
        {"half a marker", "<think>", "", "a < b <thin air <<think>x", {{A, "a < b <thin air <"}, {T, "x"}}},
        {"mistral",
         "[THINK][TOOL_CALLS]",
         "",
         "[THINK]a[b][/THINK]c[TOOL_CALLS][{\"name\": \"f\"}]",
         {{T, "a[b]"}, {A, "c"}, {C, "[TOOL_CALLS][{\"name\": \"f\"}]"}}},
        {"tool call",
         "<think><tool_call>",
         "",
         "<think>\na\n</think>\n\nOk.\n<tool_call>\n{}\n</tool_call>\n<tool_call>\n[]\n</tool_call>",
         {{T, "a"},
          {A, "Ok.\n"},
          {C, "<tool_call>\n{}\n</tool_call>"},
          {A, "\n"},
          {C, "<tool_call>\n[]\n</tool_call>"}}},
        {"granite",
         "<think><response><|tool_call|>",
         "",
         "<think>a</think> <response>b</response>",
         {{T, "a"}, {A, " b"}}},
        {"granite tools", "<think><response><|tool_call|>", "", "<|tool_call|>[{}]", {{C, "<|tool_call|>[{}]"}}},
        {"seed", "<seed:think>", "", "<seed:think>a</seed:think>b", {{T, "a"}, {A, "b"}}},
        {"kimi", "\u25c1think\u25b7", "", "\u25c1think\u25b7\u25c1 a\u25c1/think\u25b7b", {{T, "\u25c1 a"}, {A, "b"}}},
        {"command a",
         "<|START_THINKING|><|START_RESPONSE|><|START_ACTION|>",
         "",
         "<|START_THINKING|>a<|END_THINKING|><|START_ACTION|>[]<|END_ACTION|><|START_RESPONSE|>b<|END_RESPONSE|>",
         {{T, "a"}, {C, "<|START_ACTION|>[]<|END_ACTION|>"}, {A, "b"}}},
        {"gemma 4",
         "<|channel>thought<channel|><|tool_call>",
         "",
         "<|channel>thought\na\n<channel|>b<|tool_call>call:f{}<tool_call|>",
         {{T, "a"}, {A, "b"}, {C, "<|tool_call>call:f{}<tool_call|>"}}},
        {"gemma 4, thinking off",
         "<|channel>thought<channel|>",
         "<|turn>model\n<|channel>thought\n<channel|>",
         "b",
         {{A, "b"}}},
        {"llama 3", "<|python_tag|>", "", "<|python_tag|>f.call(x=1)", {{C, "<|python_tag|>f.call(x=1)"}}},
        {"deepseek tools",
         "<\uff5ctool\u2581calls\u2581begin\uff5c>",
         "",
         "a<\uff5ctool\u2581calls\u2581begin\uff5c>x<\uff5ctool\u2581calls\u2581end\uff5c>",
         {{A, "a"}, {C, "<\uff5ctool\u2581calls\u2581begin\uff5c>x<\uff5ctool\u2581calls\u2581end\uff5c>"}}},
        {"harmony",
         "<|channel|><|message|>",
         "<|start|>assistant",
         "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.\n<|return|>",
         {{T, "hm"}, {A, "Yes."}}},
        {"harmony tool",
         "<|channel|><|message|>",
         "<|start|>assistant",
         "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.f "
         "<|constrain|>json<|message|>{\"a\": 1}<|call|>",
         {{T, "hm"},
          {C,
           "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>"}}},
        {"harmony preamble",
         "<|channel|><|message|>",
         "<|start|>assistant",
         "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>Done",
         {{A, "I look.\n\nDone"}}},
        {"harmony without channels", "<|channel|><|message|>", "<|start|>assistant", "Just text.", {{A, "Just text."}}},
        {"harmony, opened by the prompt",
         "<|channel|><|message|>",
         "<|end|><|start|>assistant<|channel|>final<|message|>",
         "Yes",
         {{A, "Yes"}}},
    };
    return styles;
}

std::vector<Piece> merged(const std::vector<std::vector<Piece>>& parts) {
    std::vector<Piece> out;
    for (const auto& pieces : parts)
        for (const Piece& piece : pieces) {
            if (!out.empty() && out.back().tag == piece.tag) out.back().text += piece.text;
            else out.push_back(piece);
        }
    return out;
}

std::string shown(const std::vector<Piece>& pieces) {
    std::string out;
    for (const Piece& p : pieces) out += (p.tag == A ? "A(" : p.tag == T ? "T(" : "C(") + p.text + ") ";
    return out;
}

}  // namespace

void TestMarkers::styles_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < allStyles().size(); ++i) QTest::newRow(allStyles()[i].name) << static_cast<int>(i);
}

void TestMarkers::styles() {
    QFETCH(int, index);
    const Style& style = allStyles()[static_cast<size_t>(index)];
    const MarkerSet markers = findMarkers(style.source, style.prompt);
    const std::string_view text = style.generated;
    const auto check = [&](const std::vector<std::string_view>& parts) {
        Tagger tagger(markers);
        std::vector<std::vector<Piece>> pieces;
        for (const auto part : parts) pieces.push_back(tagger.push(part));
        pieces.push_back(tagger.finish());
        const auto got = merged(pieces);
        QVERIFY2(got == style.expected, ("got " + shown(got) + "\nexpected " + shown(style.expected)).c_str());
    };
    check({text});
    for (size_t cut = 0; cut <= text.size(); ++cut) check({text.substr(0, cut), text.substr(cut)});
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < text.size(); ++i) bytes.push_back(text.substr(i, 1));
    check(bytes);
}

void TestMarkers::holdsBackOnlyWhatCouldBeAMarker() {
    Tagger tagger(findMarkers("<think><tool_call>", ""));
    QCOMPARE(shown(tagger.push("Hello")), "A(Hello) ");
    QCOMPARE(shown(tagger.push(" <t")), "A( ) ");
    QCOMPARE(shown(tagger.push("a")), "A(<ta) ");
    QCOMPARE(shown(tagger.push("<think>x")), "T(x) ");
    QCOMPARE(shown(tagger.push("\n")), "");  // may belong to the marker that follows
    QCOMPARE(shown(tagger.push("y")), "T(\ny) ");
    QCOMPARE(shown(tagger.finish()), "");
}

void TestMarkers::publishedTemplates_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("generated");
    QTest::addColumn<QString>("expected");
    const char* rows[][3] = {
        {"Qwen-Qwen3-0.6B", "<think>\na\n</think>\n\nb", "T(a) A(b) "},
        {"Qwen-QwQ-32B", "a\n</think>\n\nb", "T(a) A(b) "},
        {"deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "a\n</think>\n\nb", "T(a) A(b) "},
        {"deepseek-ai-DeepSeek-V3.1", "a</think>b", "T(a) A(b) "},
        {"MiniMax-M2", "a\n</think>\n\nb", "T(a) A(b) "},
        {"GLM-4.6", "<think>a</think>\nb", "T(a) A(b) "},
        {"openai-gpt-oss-120b", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
         "T(a) A(b) "},
        {"google-gemma-4-31B-it", "<|channel>thought\na\n<channel|>b", "T(a) A(b) "},
        {"Mistral-Small-3.2-24B-Instruct-2506", "[TOOL_CALLS]f[ARGS]{}", "C([TOOL_CALLS]f[ARGS]{}) "},
        {"LFM2-8B-A1B", "b", "A(b) "},
        {"llama-3", "<think>", "A(<think>) "},
    };
    for (const auto& row : rows) QTest::newRow(row[0]) << row[0] << row[1] << row[2];
}

void TestMarkers::publishedTemplates() {
    QFETCH(QString, name);
    QFETCH(QString, generated);
    QFETCH(QString, expected);
    const auto path = fixtures() / "chat-templates" / (name.toStdString() + ".jinja");
    if (!std::filesystem::exists(path)) QSKIP("the fixtures are not there: chat-templates");
    const auto chat = ChatTemplate::parse(readFile(path));
    Conversation conversation;
    conversation.messages = {{{"role", "user"}, {"content", "Hi"}}};
    conversation.enable_thinking = true;
    const auto prompt = chat.renderConversation(conversation, fixtureTime());
    Tagger tagger(findMarkers(chat.source(), prompt.text));
    const auto first = tagger.push(generated.toStdString());
    QCOMPARE(shown(merged({first, tagger.finish()})), expected.toStdString());
}

QTEST_GUILESS_MAIN(TestMarkers)
#include "test_markers.moc"
