#pragma once

#include <QList>
#include <QString>

namespace hearth::ui {

struct Language {
    QString code;   ///< "de"
    QString name;   ///< in the language itself
};

/// Those that Hearth has words in, English first.
QList<Language> languages();

/// Words of the program and of Qt from now on; an empty code is the system's language. What has no words yet is English.
void useLanguage(const QString& code);

}  // namespace hearth::ui
