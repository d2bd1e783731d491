#pragma once

#include <QCoreApplication>
#include <QSettings>
#include <QTemporaryDir>

namespace hearth::test {

/// While it lives, settings are kept in a folder of its own: a test neither reads nor changes those of the user.
class OwnSettings {
public:
    OwnSettings() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder_.path());
        QCoreApplication::setOrganizationName(QStringLiteral("hearth-test"));
    }
    bool isValid() const { return folder_.isValid(); }
    QString path() const { return folder_.path(); }
    QString filePath(const QString& name) const { return folder_.filePath(name); }

private:
    QTemporaryDir folder_;
};

}  // namespace hearth::test
