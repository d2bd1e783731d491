#include "ui/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

namespace hearth::ui {

QList<Language> languages() {
    return {{QStringLiteral("en"), QStringLiteral("English")},
            {QStringLiteral("de"), QStringLiteral("Deutsch")},
            {QStringLiteral("tr"), QStringLiteral("Türkçe")},
            {QStringLiteral("zh_CN"), QStringLiteral("简体中文")}};
}

void useLanguage(const QString& code) {
    const QLocale locale = code.isEmpty() ? QLocale::system() : QLocale(code);
    QLocale::setDefault(locale);
    const auto load = [&locale](const QString& name, const QString& folder) {
        auto* translator = new QTranslator(QCoreApplication::instance());
        if (translator->load(locale, name, QStringLiteral("_"), folder))
            QCoreApplication::installTranslator(translator);
        else delete translator;
    };
    // Plurals of English first: whatever is not translated falls through to them.
    auto* english = new QTranslator(QCoreApplication::instance());
    if (english->load(QStringLiteral(":/i18n/hearth_en.qm"))) QCoreApplication::installTranslator(english);
    else delete english;
    load(QStringLiteral("qtbase"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    load(QStringLiteral("hearth"), QStringLiteral(":/i18n"));
}

}  // namespace hearth::ui
