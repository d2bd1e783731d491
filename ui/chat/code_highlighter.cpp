#include "ui/chat/code_highlighter.h"

#ifdef HEARTH_SYNTAX_HIGHLIGHTING
#include <KSyntaxHighlighting/Definition>
#include <KSyntaxHighlighting/Repository>
#include <KSyntaxHighlighting/SyntaxHighlighter>
#include <KSyntaxHighlighting/Theme>
#include <QHash>
#include <QtConcurrent>

namespace hearth::ui {
namespace {

namespace ksh = KSyntaxHighlighting;

/// Made at its first use, by whatever thread that is; it costs 12 to 21 ms.
ksh::Repository& repository() {
    static ksh::Repository all;
    return all;
}

ksh::Definition find(const QString& language) {
    // What fences say that is neither a name nor a file's ending.
    static const QHash<QString, QString> others = {{QStringLiteral("shell"), QStringLiteral("bash")},
                                                   {QStringLiteral("console"), QStringLiteral("bash")},
                                                   {QStringLiteral("golang"), QStringLiteral("go")},
                                                   {QStringLiteral("javascript"), QStringLiteral("javascript")},
                                                   {QStringLiteral("node"), QStringLiteral("javascript")},
                                                   {QStringLiteral("python3"), QStringLiteral("python")},
                                                   {QStringLiteral("csharp"), QStringLiteral("c#")},
                                                   {QStringLiteral("objc"), QStringLiteral("objective-c")},
                                                   {QStringLiteral("text"), QStringLiteral("none")},
                                                   {QStringLiteral("plaintext"), QStringLiteral("none")}};
    const QString name = others.value(language.toLower(), language.toLower());
    if (const ksh::Definition named = repository().definitionForName(name); named.isValid()) return named;
    return repository().definitionForFileName(QStringLiteral("x.") + name);
}

ksh::Definition definitionOf(const QString& language) {
    static QHash<QString, ksh::Definition> known;   // looking through all endings takes its time
    if (language.isEmpty()) return {};
    const auto at = known.constFind(language);
    return at != known.constEnd() ? *at : *known.insert(language, find(language));
}

}  // namespace

void prepareHighlighting() {
    (void)QtConcurrent::run([] { (void)repository(); });
}

std::unique_ptr<QSyntaxHighlighter> highlighterFor(QTextDocument& document, const QString& language,
                                                   const QPalette& palette) {
    constexpr int most_lines = 5000;
    const ksh::Definition definition = definitionOf(language);
    if (!definition.isValid() || document.blockCount() > most_lines) return {};
    auto highlighter = std::make_unique<ksh::SyntaxHighlighter>(&document);
    highlighter->setTheme(repository().themeForPalette(palette));
    highlighter->setDefinition(definition);
    return highlighter;
}

QString fileEndingOf(const QString& language) {
    const ksh::Definition definition = definitionOf(language);
    if (definition.isValid())
        for (const QString& pattern : definition.extensions())
            if (pattern.startsWith(QStringLiteral("*.")) && pattern.indexOf(u'*', 1) < 0) return pattern.mid(2);
    return QStringLiteral("txt");
}

}  // namespace hearth::ui
#else
namespace hearth::ui {

void prepareHighlighting() {}
std::unique_ptr<QSyntaxHighlighter> highlighterFor(QTextDocument&, const QString&, const QPalette&) { return {}; }
QString fileEndingOf(const QString&) { return QStringLiteral("txt"); }

}  // namespace hearth::ui
#endif
