#include <QBuffer>
#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPageSize>
#include <QPalette>
#include <QPdfWriter>
#include <QSaveFile>
#include <algorithm>

#include "engine/base/error.h"
#include "ui/chat/markdown_document.h"
#include "ui/exchange/chat_files.h"

namespace hearth::ui {
namespace {

struct ExportWords {
    Q_DECLARE_TR_FUNCTIONS(ChatFiles)
};

/// From the beginning to the message that was seen last.
QList<MessageRecord> shownBranch(const WholeChat& whole) {
    QHash<qint64, const MessageRecord*> by_id;
    for (const MessageRecord& m : whole.messages) by_id.insert(m.id, &m);
    QList<MessageRecord> branch;
    qint64 at =
        by_id.contains(whole.chat.leaf) || whole.messages.isEmpty() ? whole.chat.leaf : whole.messages.back().id;
    for (; by_id.contains(at) && branch.size() < whole.messages.size(); at = by_id.value(at)->parent)
        branch.push_front(*by_id.value(at));
    return branch;
}

QString authorOf(const MessageRecord& m) {
    if (!m.author.isEmpty()) return m.author;
    return m.role == Role::User ? ExportWords::tr("You") : ExportWords::tr("Assistant");
}

void write(const QString& path, const QByteArray& bytes) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        throw Error(ExportWords::tr("%1 could not be written").arg(path).toStdString(),
                    file.errorString().toStdString(), ExportWords::tr("Choose another folder").toStdString());
}

QByteArray toPdf(const WholeChat& whole) {
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    {
        QPdfWriter pdf(&bytes);
        pdf.setTitle(whole.chat.title);
        pdf.setPageSize(QPageSize(QPageSize::A4));
        MarkdownDocument document;
        document.setSource(toMarkdown(whole), QPalette(Qt::black, Qt::white));
        document.print(&pdf);
    }
    return bytes.data();
}

const char* nameOf(Role role) { return role == Role::System ? "system" : role == Role::User ? "user" : "assistant"; }

QJsonObject toObject(const MessageRecord& m) {
    QJsonObject object{{QStringLiteral("id"), m.id},
                       {QStringLiteral("parent"), m.parent},
                       {QStringLiteral("role"), QLatin1StringView(nameOf(m.role))},
                       {QStringLiteral("text"), m.text},
                       {QStringLiteral("created"), m.created}};
    const auto add = [&object](const char* name, const QJsonValue& value, bool said) {
        if (said) object.insert(QLatin1StringView(name), value);
    };
    add("state", static_cast<int>(m.state), m.state != MessageState::Complete);
    add("author", m.author, !m.author.isEmpty());
    add("thinking", m.thinking, !m.thinking.isEmpty());
    add("notes", QJsonArray::fromStringList(m.notes), !m.notes.isEmpty());
    add("tokens", static_cast<qint64>(m.tokens), m.tokens != 0);
    add("seconds", m.seconds, m.seconds != 0);
    add("thinking_seconds", m.thinking_seconds, m.thinking_seconds != 0);
    add("speed", m.speed, m.speed != 0);
    add("rating", m.rating, m.rating != 0);
    return object;
}

}  // namespace

QString toMarkdown(const WholeChat& whole) {
    QString all = QStringLiteral("# %1\n\n").arg(whole.chat.title);
    if (!whole.chat.system_prompt.isEmpty())
        all += QStringLiteral("## %1\n\n%2\n\n").arg(ExportWords::tr("System prompt"), whole.chat.system_prompt);
    for (const MessageRecord& m : shownBranch(whole))
        all += QStringLiteral("## %1\n\n%2\n\n").arg(authorOf(m), m.text.trimmed());
    return all;
}

QString toHtml(const WholeChat& whole) {
    MarkdownDocument document;
    document.setSource(toMarkdown(whole), QPalette(Qt::black, Qt::white));
    document.setMetaInformation(QTextDocument::DocumentTitle, whole.chat.title);
    return document.toHtml();
}

QByteArray toJson(const QList<WholeChat>& chats) {
    QJsonArray all;
    for (const WholeChat& whole : chats) {
        QJsonArray messages;
        for (const MessageRecord& m : whole.messages) messages.append(toObject(m));
        all.append(QJsonObject{{QStringLiteral("title"), whole.chat.title},
                               {QStringLiteral("system_prompt"), whole.chat.system_prompt},
                               {QStringLiteral("options"), whole.chat.options},
                               {QStringLiteral("leaf"), whole.chat.leaf},
                               {QStringLiteral("created"), whole.chat.created},
                               {QStringLiteral("updated"), whole.chat.updated},
                               {QStringLiteral("messages"), messages}});
    }
    return QJsonDocument(QJsonObject{{QStringLiteral("format"), QStringLiteral("hearth-chats")},
                                     {QStringLiteral("version"), 1},
                                     {QStringLiteral("chats"), all}})
        .toJson();
}

void exportChat(const WholeChat& whole, const QString& path) {
    const auto ends = [&path](const char* ending) {
        return path.endsWith(QLatin1StringView(ending), Qt::CaseInsensitive);
    };
    if (ends(".pdf")) write(path, toPdf(whole));
    else if (ends(".html") || ends(".htm")) write(path, toHtml(whole).toUtf8());
    else if (ends(".json")) exportChats({whole}, path);
    else write(path, toMarkdown(whole).toUtf8());
}

void exportChats(const QList<WholeChat>& chats, const QString& path) { write(path, toJson(chats)); }

}  // namespace hearth::ui
