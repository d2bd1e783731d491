#include "ui/settings/settings.h"

#include <QFileInfo>
#include <QSettings>
#include <algorithm>

namespace hearth::ui {
namespace {

const QString geometry_key = QStringLiteral("window/geometry"), zoom_key = QStringLiteral("chat/zoom"),
              splitter_key = QStringLiteral("window/splitter"), last_chat_key = QStringLiteral("chat/last"),
              welcomed_key = QStringLiteral("window/welcomed"), state_key = QStringLiteral("window/state"),
              theme_key = QStringLiteral("window/theme");

const QString send_key = QStringLiteral("chat/send_key"), threads_key = QStringLiteral("engine/threads"),
              language_key = QStringLiteral("window/language"), awake_key = QStringLiteral("engine/stays_awake"),
              tray_key = QStringLiteral("window/tray"), notifies_key = QStringLiteral("chat/notifies");

/// A model's name as a part of a key, whatever is in it.
QString keyOf(const QString& model) { return QString::fromLatin1(model.toUtf8().toHex()); }

QString placementKey(const QString& model) {
    return model.isEmpty() ? QStringLiteral("engine/placement")
                           : QStringLiteral("models/%1/placement").arg(keyOf(model));
}

}  // namespace

QString Settings::folder() const { return QFileInfo(QSettings().fileName()).absolutePath(); }
QByteArray Settings::windowGeometry() const { return QSettings().value(geometry_key).toByteArray(); }
void Settings::setWindowGeometry(const QByteArray& geometry) { QSettings().setValue(geometry_key, geometry); }
QByteArray Settings::splitter() const { return QSettings().value(splitter_key).toByteArray(); }
void Settings::setSplitter(const QByteArray& state) { QSettings().setValue(splitter_key, state); }
qint64 Settings::lastChat() const { return QSettings().value(last_chat_key).toLongLong(); }
void Settings::setLastChat(qint64 id) { QSettings().setValue(last_chat_key, id); }
int Settings::zoom() const { return std::clamp(QSettings().value(zoom_key, 0).toInt(), -6, 24); }
void Settings::setZoom(int points) { QSettings().setValue(zoom_key, points); }

SendKey Settings::sendKey() const {
    return static_cast<SendKey>(std::clamp(QSettings().value(send_key, 0).toInt(), 0, 2));
}
void Settings::setSendKey(SendKey key) { QSettings().setValue(send_key, static_cast<int>(key)); }
uint Settings::threads() const { return std::min(QSettings().value(threads_key, 0).toUInt(), 1024U); }
void Settings::setThreads(uint threads) { QSettings().setValue(threads_key, threads); }
bool Settings::notifies() const { return QSettings().value(notifies_key, true).toBool(); }
void Settings::setNotifies(bool notifies) { QSettings().setValue(notifies_key, notifies); }

bool Settings::staysAwake() const { return QSettings().value(awake_key, true).toBool(); }
void Settings::setStaysAwake(bool stays) { QSettings().setValue(awake_key, stays); }
bool Settings::usesTray() const { return QSettings().value(tray_key, false).toBool(); }
void Settings::setUsesTray(bool uses) { QSettings().setValue(tray_key, uses); }

QString Settings::modelChoices(const QString& model) const {
    return QSettings().value(QStringLiteral("models/%1/choices").arg(keyOf(model))).toString();
}

QString Settings::modelSystemPrompt(const QString& model) const {
    return QSettings().value(QStringLiteral("models/%1/system_prompt").arg(keyOf(model))).toString();
}

void Settings::setModelDefaults(const QString& model, const QString& choices, const QString& system_prompt) {
    QSettings().setValue(QStringLiteral("models/%1/choices").arg(keyOf(model)), choices);
    QSettings().setValue(QStringLiteral("models/%1/system_prompt").arg(keyOf(model)), system_prompt);
}

std::optional<PlacementChoices> Settings::placement(const QString& model) const {
    const QVariant json = QSettings().value(placementKey(model));
    if (!json.isValid()) return {};
    return PlacementChoices::fromJson(json.toString());
}

void Settings::setPlacement(const QString& model, const std::optional<PlacementChoices>& choices) {
    if (choices) QSettings().setValue(placementKey(model), choices->toJson());
    else QSettings().remove(placementKey(model));
}

QMap<QString, Settings::Preset> Settings::presets() const {
    QMap<QString, Preset> all;
    QSettings settings;
    settings.beginGroup(QStringLiteral("presets"));
    for (const QString& key : settings.childGroups()) {
        const QString name = QString::fromUtf8(QByteArray::fromHex(key.toLatin1()));
        if (!name.isEmpty())
            all.insert(name, {settings.value(key + QStringLiteral("/choices")).toString(),
                              settings.value(key + QStringLiteral("/system_prompt")).toString()});
    }
    return all;
}

void Settings::setPreset(const QString& name, const std::optional<Preset>& preset) {
    QSettings settings;
    settings.beginGroup(QStringLiteral("presets/") + keyOf(name));
    settings.remove(QString());
    if (!preset) return;
    settings.setValue(QStringLiteral("choices"), preset->choices);
    settings.setValue(QStringLiteral("system_prompt"), preset->system_prompt);
}

bool Settings::welcomed() const { return QSettings().value(welcomed_key, false).toBool(); }
void Settings::setWelcomed(bool welcomed) { QSettings().setValue(welcomed_key, welcomed); }
QByteArray Settings::windowState() const { return QSettings().value(state_key).toByteArray(); }
void Settings::setWindowState(const QByteArray& state) { QSettings().setValue(state_key, state); }

std::optional<QKeySequence> Settings::shortcut(const QString& action) const {
    const QVariant keys = QSettings().value(QStringLiteral("shortcuts/") + action);
    if (!keys.isValid()) return {};
    return QKeySequence(keys.toString(), QKeySequence::PortableText);
}

void Settings::setShortcut(const QString& action, const std::optional<QKeySequence>& keys) {
    const QString key = QStringLiteral("shortcuts/") + action;
    if (keys) QSettings().setValue(key, keys->toString(QKeySequence::PortableText));
    else QSettings().remove(key);
}

QString Settings::language() const { return QSettings().value(language_key).toString(); }
void Settings::setLanguage(const QString& code) { QSettings().setValue(language_key, code); }

Theme Settings::theme() const {
    const QString name = QSettings().value(theme_key).toString();
    return name == QStringLiteral("light")  ? Theme::Light
           : name == QStringLiteral("dark") ? Theme::Dark
                                            : Theme::System;
}

void Settings::setTheme(Theme theme) {
    QSettings().setValue(theme_key, theme == Theme::Light  ? QStringLiteral("light")
                                    : theme == Theme::Dark ? QStringLiteral("dark")
                                                           : QStringLiteral("system"));
}

}  // namespace hearth::ui
