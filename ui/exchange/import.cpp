#include <QCoreApplication>
#include <QDateTime>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "engine/base/error.h"
#include "ui/exchange/chat_files.h"

namespace hearth::ui {
namespace {

using namespace Qt::StringLiterals;

struct ImportWords {
    Q_DECLARE_TR_FUNCTIONS(ChatFiles)
};

/// A message as files know it, by the name that it has there.
struct Foreign {
    QString id, parent;
    MessageRecord m = {};
    bool kept = true;   ///< false: only its children count
};

QString nameOf(const QJsonValue& value) { return value.isNull() ? QString() : value.toVariant().toString(); }

qint64 milliseconds(const QJsonValue& seconds) { return static_cast<qint64>(seconds.toDouble() * 1000); }

/// Gives new ids, parents before children, so that circles cannot be; who names no known parent begins the chat.
WholeChat assemble(ChatRecord chat, const QList<Foreign>& all, const QString& leaf) {
    QHash<QString, qsizetype> at;
    for (qsizetype i = 0; i < all.size(); ++i)
        if (!at.contains(all[i].id)) at.insert(all[i].id, i);
    QHash<qsizetype, QList<qsizetype>> children;
    QList<qsizetype> roots, rest;
    for (qsizetype i = 0; i < all.size(); ++i) {
        const qsizetype parent = all[i].parent.isEmpty() ? -1 : at.value(all[i].parent, -1);
        if (parent < 0 || parent == i) roots << i;
        else children[parent] << i;
        rest << i;
    }
    WholeChat whole{.chat = std::move(chat), .messages = {}};
    whole.chat.id = newId();
    QHash<qsizetype, qint64> ids;   ///< of those done: their own id, or what stands for them
    const auto take = [&](qsizetype begin) {
        QList<std::pair<qsizetype, qint64>> open = {{begin, 0}};
        while (!open.isEmpty()) {
            const auto [i, parent] = open.takeLast();
            if (ids.contains(i)) continue;
            MessageRecord m = all[i].m;
            m.parent = parent;
            m.chat = whole.chat.id;
            m.id = all[i].kept ? newId() : parent;
            ids.insert(i, m.id);
            const QList<qsizetype> after = children.value(i);
            for (auto child = after.rbegin(); child != after.rend(); ++child) open.push_back({*child, m.id});
            if (all[i].kept) whole.messages.push_back(std::move(m));
        }
    };
    for (const qsizetype root : roots) take(root);
    for (const qsizetype i : rest) take(i);   // what is left goes in circles
    whole.chat.leaf = ids.value(at.value(leaf, -1), whole.messages.isEmpty() ? 0 : whole.messages.back().id);
    return whole;
}

void setRole(Foreign& f, const QString& role) {
    f.m.role = role == u"user"_s ? Role::User : role == u"system"_s ? Role::System : Role::Assistant;
    f.kept = role == u"user"_s || role == u"assistant"_s;
}

WholeChat readOwn(const QJsonObject& object) {
    ChatRecord chat{.title = object[u"title"_s].toString(),
                    .system_prompt = object[u"system_prompt"_s].toString(),
                    .options = object[u"options"_s].toString(),
                    .created = object[u"created"_s].toInteger(),
                    .updated = object[u"updated"_s].toInteger()};
    QList<Foreign> all;
    for (const QJsonValue& value : object[u"messages"_s].toArray()) {
        const QJsonObject o = value.toObject();
        Foreign f{.id = nameOf(o[u"id"_s]), .parent = nameOf(o[u"parent"_s])};
        setRole(f, o[u"role"_s].toString());
        f.m.state = static_cast<MessageState>(
            std::clamp(o[u"state"_s].toInt(), 0, static_cast<int>(MessageState::Interrupted)));
        f.m.text = o[u"text"_s].toString();
        f.m.author = o[u"author"_s].toString();
        f.m.thinking = o[u"thinking"_s].toString();
        for (const QJsonValue& note : o[u"notes"_s].toArray()) f.m.notes << note.toString();
        f.m.created = o[u"created"_s].toInteger();
        f.m.tokens = static_cast<uint>(std::clamp<qint64>(o[u"tokens"_s].toInteger(), 0, 1LL << 31));
        f.m.seconds = o[u"seconds"_s].toDouble();
        f.m.thinking_seconds = o[u"thinking_seconds"_s].toDouble();
        f.m.speed = o[u"speed"_s].toDouble();
        f.m.rating = std::clamp(o[u"rating"_s].toInt(), -1, 1);
        all << f;
    }
    return assemble(chat, all, nameOf(object[u"leaf"_s]));
}

/// The text of a message of ChatGPT: strings, and words in the place of what is none.
QString contentOf(const QJsonObject& content) {
    QStringList parts;
    if (content[u"content_type"_s] == u"code"_s) parts << u"```\n%1\n```"_s.arg(content[u"text"_s].toString());
    for (const QJsonValue& part : content[u"parts"_s].toArray()) {
        const QJsonObject object = part.toObject();
        if (part.isString()) parts << part.toString();
        else if (object[u"text"_s].isString()) parts << object[u"text"_s].toString();
        else if (object[u"content_type"_s].toString().contains(u"image"_s)) parts << ImportWords::tr("[image]");
        else if (!object.isEmpty()) parts << ImportWords::tr("[attachment]");
    }
    parts.removeAll(QString());
    return parts.join(u"\n\n"_s);
}

WholeChat readChatGpt(const QJsonObject& object) {
    ChatRecord chat{.title = object[u"title"_s].toString(),
                    .created = milliseconds(object[u"create_time"_s]),
                    .updated = milliseconds(object[u"update_time"_s])};
    QList<Foreign> all;
    const QJsonObject mapping = object[u"mapping"_s].toObject();
    for (auto it = mapping.begin(); it != mapping.end(); ++it) {
        const QJsonObject node = it->toObject(), message = node[u"message"_s].toObject();
        Foreign f{.id = it.key(), .parent = nameOf(node[u"parent"_s])};
        setRole(f, message[u"author"_s].toObject()[u"role"_s].toString());
        f.m.text = contentOf(message[u"content"_s].toObject());
        f.m.created = milliseconds(message[u"create_time"_s]);
        if (f.m.role == Role::Assistant) f.m.author = message[u"metadata"_s].toObject()[u"model_slug"_s].toString();
        if (f.m.role == Role::System && !f.m.text.isEmpty()) chat.system_prompt = f.m.text;
        f.kept = f.kept && !f.m.text.isEmpty();
        all << f;
    }
    std::ranges::stable_sort(all, {}, [](const Foreign& f) { return f.m.created; });
    return assemble(chat, all, nameOf(object[u"current_node"_s]));
}

/// llama.cpp's web interface: {conv, messages} with parents, or before that {id, lastModified, messages} in a row.
WholeChat readLlamaUi(const QJsonObject& object) {
    const bool tree = object[u"conv"_s].isObject();
    const QJsonObject conversation = tree ? object[u"conv"_s].toObject() : object;
    ChatRecord chat{.title = conversation[u"name"_s].toString(),
                    .created = conversation[u"lastModified"_s].toInteger(),
                    .updated = conversation[u"lastModified"_s].toInteger()};
    QList<Foreign> all;
    QString before;
    for (const QJsonValue& value : object[u"messages"_s].toArray()) {
        const QJsonObject o = value.toObject();
        Foreign f{.id = nameOf(o[u"id"_s]), .parent = tree ? nameOf(o[u"parent"_s]) : before};
        setRole(f, o[u"role"_s].toString());
        f.m.text = o[u"content"_s].toString();
        for (const QString& name : {u"thinking"_s, u"reasoningContent"_s, u"reasoning_content"_s})
            if (f.m.thinking.isEmpty()) f.m.thinking = o[name].toString();
        f.m.created = o[u"timestamp"_s].toInteger();
        if (f.m.role == Role::Assistant) f.m.author = o[u"model"_s].toString();
        if (f.m.role == Role::System && !f.m.text.isEmpty()) chat.system_prompt = f.m.text;
        f.kept = f.kept && o[u"type"_s] != u"root"_s;
        before = f.id;
        all << f;
    }
    return assemble(chat, all, nameOf(conversation[u"currNode"_s]));
}

[[noreturn]] void refuse(const QString& why) {
    throw Error(ImportWords::tr("no chats could be read").toStdString(), why.toStdString(),
                ImportWords::tr(
                    "Choose a file that Hearth, ChatGPT (conversations.json) or llama.cpp's web interface has written")
                    .toStdString());
}

}  // namespace

QList<WholeChat> readChats(const QByteArray& bytes) {
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(bytes, &error);
    if (document.isNull()) refuse(ImportWords::tr("the file is not JSON: %1").arg(error.errorString()));
    QList<WholeChat> chats;
    const QJsonObject whole = document.object();
    if (whole[u"format"_s] == u"hearth-chats"_s) {
        if (whole[u"version"_s].toInt() != 1) refuse(ImportWords::tr("a newer version of Hearth wrote the file"));
        for (const QJsonValue& value : whole[u"chats"_s].toArray()) chats << readOwn(value.toObject());
    } else {
        const QJsonArray several = document.isArray() ? document.array() : QJsonArray{whole};
        for (const QJsonValue& value : several) {
            const QJsonObject object = value.toObject();
            if (object[u"mapping"_s].isObject()) chats << readChatGpt(object);
            else if (object[u"messages"_s].isArray()) chats << readLlamaUi(object);
        }
    }
    chats.removeIf([](const WholeChat& one) { return one.messages.isEmpty(); });
    if (chats.isEmpty()) refuse(ImportWords::tr("there is no chat in the file"));
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    for (WholeChat& one : chats) {
        if (one.chat.created <= 0) one.chat.created = now;
        if (one.chat.updated <= 0) one.chat.updated = one.chat.created;
        if (one.chat.title.simplified().isEmpty()) one.chat.title = one.messages.first().text.simplified().left(60);
    }
    return chats;
}

QList<WholeChat> importChats(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        refuse(ImportWords::tr("%1 cannot be opened: %2").arg(path, file.errorString()));
    return readChats(file.readAll());
}

}  // namespace hearth::ui
