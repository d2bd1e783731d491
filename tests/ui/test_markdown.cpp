#include <QRandomGenerator>
#include <QTextBlock>
#include <QTextList>
#include <QTextTable>
#include <QtTest>

#include "ui/chat/markdown_blocks.h"
#include "ui/chat/markdown_document.h"

using namespace hearth::ui;

class TestMarkdown : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void piecesLookLikeTheWhole();
    void onlyTheLastBlockChanges();
    void fences_data();
    void fences();
    void nothingIsLost_data();
    void nothingIsLost();
    void imagesAreWords();
    void formulasAreReadable_data();
    void formulasAreReadable();
};

namespace {

/// Lines that are seen, each with what it is.
QStringList seen(const QTextDocument& document) {
    QStringList lines;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.text().trimmed().isEmpty()) continue;
        const bool code = block.blockFormat().hasProperty(QTextFormat::BlockCodeFence) ||
                          block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage);
        const QTextList* list = block.textList();
        lines << QStringLiteral("%1 heading %2 list %3 quote %4 code %5")
                     .arg(block.text())
                     .arg(block.blockFormat().headingLevel())
                     .arg(list ? list->format().indent() : 0)
                     .arg(block.blockFormat().intProperty(QTextFormat::BlockQuoteLevel))
                     .arg(code);
    }
    return lines;
}

QStringList seenInPieces(const QString& source) {
    QStringList lines;
    for (const MarkdownBlock& block : splitMarkdown(source)) {
        if (block.code) {
            for (const QString& line : block.text.split(u'\n'))
                if (!line.trimmed().isEmpty()) lines << QStringLiteral("%1 heading 0 list 0 quote 0 code 1").arg(line);
        } else {
            MarkdownDocument document;
            document.setSource(block.text, {});
            lines << seen(document);
        }
    }
    return lines;
}

QString part(QRandomGenerator& random) {
    static const QStringList parts = {
        QStringLiteral("A paragraph with *words*.\n"),
        QStringLiteral("Two lines\nof one paragraph\n"),
        QStringLiteral("# Heading\n"),
        QStringLiteral("## Second\n"),
        QStringLiteral("- one\n- two\n"),
        QStringLiteral("- loose\n\n- items\n"),
        QStringLiteral("1. first\n2. second\n"),
        QStringLiteral("* a\n\n  a paragraph inside\n\n* b\n"),
        QStringLiteral("- with code\n\n  ```\n  inside\n\n  still inside\n  ```\n"),
        QStringLiteral("> quoted\n> text\n"),
        QStringLiteral("```cpp\nint x;\n\nint y;\n```\n"),
        QStringLiteral("~~~\n```\ntildes\n~~~\n"),
        QStringLiteral("````\n```\nnested\n```\n````\n"),
        QStringLiteral("| a | b |\n|---|---|\n| 1 | 2 |\n"),
        QStringLiteral("Title\n=====\n"),
        QStringLiteral("1) one\n\n   more of one\n\n2) two\n"),
    };
    return parts[random.bounded(static_cast<int>(parts.size()))];
}

}  // namespace

/// The reference is Qt's own reading of the whole text.
void TestMarkdown::piecesLookLikeTheWhole() {
    QRandomGenerator random(29);
    int wrong = 0, cut = 0;
    QString first;
    constexpr int documents = 20000;
    for (int i = 0; i < documents; ++i) {
        QString source;
        for (int n = random.bounded(1, 7); n > 0; --n) source += part(random) + QStringLiteral("\n");
        MarkdownDocument whole;
        whole.setSource(source, {});
        cut += static_cast<int>(splitMarkdown(source).size());
        if (seenInPieces(source) == seen(whole)) continue;
        if (wrong++ == 0)
            first = source + QStringLiteral("\n--- pieces\n") + seenInPieces(source).join(u'\n') +
                    QStringLiteral("\n--- whole\n") + seen(whole).join(u'\n');
    }
    QVERIFY2(wrong == 0,
             qPrintable(QStringLiteral("%1 of %2 differ; the first:\n%3").arg(wrong).arg(documents).arg(first)));
    QVERIFY(cut > 2 * documents);
}

void TestMarkdown::onlyTheLastBlockChanges() {
    QRandomGenerator random(7);
    QString source;
    for (int i = 0; i < 40; ++i) source += part(random) + QStringLiteral("\n");
    QList<MarkdownBlock> before, grown;
    for (qsizetype n = 1; n <= source.size(); ++n) {
        const QList<MarkdownBlock> now = splitMarkdown(QStringView(source).left(n));
        QVERIFY(now.size() + 1 >= before.size());
        // Until its line is whole, the last block may turn out to belong to the one before: 1 is no list, and 1. is one.
        for (qsizetype i = 0; i + 2 < before.size(); ++i) QCOMPARE(now.value(i), before[i]);
        before = now;
        grown = splitFurther(QStringView(source).left(n), grown);
        QCOMPARE(grown, now);
    }
}

void TestMarkdown::fences_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("language");
    QTest::addColumn<QString>("code");
    QTest::newRow("named") << QStringLiteral("Look:\n```python title=x\nprint(1)\n```\nDone.")
                           << QStringLiteral("python") << QStringLiteral("print(1)");
    QTest::newRow("open") << QStringLiteral("```\na\n\nb") << QString() << QStringLiteral("a\n\nb");
    QTest::newRow("longer") << QStringLiteral("````md\n```\nx\n```\n````\n") << QStringLiteral("md")
                            << QStringLiteral("```\nx\n```");
    QTest::newRow("tilde in backticks") << QStringLiteral("```\n~~~\n```\n") << QString() << QStringLiteral("~~~");
}

void TestMarkdown::fences() {
    QFETCH(QString, source);
    QFETCH(QString, language);
    QFETCH(QString, code);
    QList<MarkdownBlock> fences;
    for (const MarkdownBlock& b : splitMarkdown(source))
        if (b.code) fences << b;
    QCOMPARE(fences.size(), 1);
    QCOMPARE(fences[0].language, language);
    QCOMPARE(fences[0].text, code);
}

void TestMarkdown::nothingIsLost_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QStringList>("words");
    QTest::newRow("template") << QStringLiteral("Use std::vector<int> here, and more.\n\nSecond paragraph.")
                              << QStringList{QStringLiteral("<int>"), QStringLiteral("and more"),
                                             QStringLiteral("Second paragraph")};
    QTest::newRow("think") << QStringLiteral("<think>hm</think> answer")
                           << QStringList{QStringLiteral("<think>hm</think>"), QStringLiteral("answer")};
    QTest::newRow("html block") << QStringLiteral("<div>\n\ninside\n\n</div>")
                                << QStringList{QStringLiteral("<div>"), QStringLiteral("inside"),
                                               QStringLiteral("</div>")};
    QTest::newRow("front matter") << QStringLiteral("---\ntitle: x\n---\nbody")
                                  << QStringList{QStringLiteral("title: x"), QStringLiteral("body")};
    QTest::newRow("script") << QStringLiteral("a <script>alert(1)</script> b")
                            << QStringList{QStringLiteral("<script>"), QStringLiteral("alert(1)"),
                                           QStringLiteral(" b")};
}

void TestMarkdown::nothingIsLost() {
    QFETCH(QString, source);
    QFETCH(QStringList, words);
    MarkdownDocument document;
    document.setSource(source, {});
    for (const QString& word : words)
        QVERIFY2(document.toPlainText().contains(word),
                 qPrintable(word + QStringLiteral(" is not in: ") + document.toPlainText()));
}

void TestMarkdown::imagesAreWords() {
    MarkdownDocument document;
    document.setSource(QStringLiteral("before ![a cat](file:///etc/hostname) ![](http://example.com/x.png) after"), {});
    const QString text = document.toPlainText();
    QVERIFY2(text.contains(QStringLiteral("file:///etc/hostname")) &&
                 text.contains(QStringLiteral("http://example.com/x.png")),
             qPrintable(text));
    QVERIFY2(!text.contains(QChar::ObjectReplacementCharacter), qPrintable(text));
    QVERIFY(text.startsWith(QStringLiteral("before")) && text.endsWith(QStringLiteral("after")));
}

void TestMarkdown::formulasAreReadable_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("seen");
    const auto row = [](const char* source, const char* seen) {
        QTest::newRow(source) << QString::fromUtf8(source) << QString::fromUtf8(seen);
    };
    row("so \\(x^2 \\le \\alpha_i\\).", "so x² ≤ αᵢ.");
    row("\\[ \\frac{a+b}{2} \\]", "(a+b)/2");
    row("$$\\sum_{i=1}^{n} x_i$$", "∑ᵢ₌₁ⁿ xᵢ");
    row("$E = mc^2$ and $a*b*c$", "E = mc² and a*b*c");
    row("it costs $5 and $6", "it costs $5 and $6");
    row("from $5 to 7$9", "from $5 to 7$9");
    row("`$x^2$` is code", "$x^2$ is code");
    row("$\\unknown{x}$", "\\unknownx");
    row("\\(open for ever", "(open for ever");
    row("$x^{\\beta}$", "x^β");
    row("$}{$", "}");
    row("$\\sqrt{2}\\in\\mathbb{R}$", "√2∈ℝ");
}

void TestMarkdown::formulasAreReadable() {
    QFETCH(QString, source);
    QFETCH(QString, seen);
    MarkdownDocument document;
    document.setSource(source, {});
    QCOMPARE(document.toPlainText(), seen);
}

QTEST_MAIN(TestMarkdown)
#include "test_markdown.moc"
