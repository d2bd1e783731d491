#pragma once

#include <QByteArray>

#include "ui/store/records.h"

/// Chats as files, out and in. From any thread.
namespace hearth::ui {

/// The branch that is shown, for people.
QString toMarkdown(const WholeChat& whole);
QString toHtml(const WholeChat& whole);
/// Everything, for readChats(): {"format": "hearth-chats", "version": 1, "chats": [...]}.
QByteArray toJson(const QList<WholeChat>& chats);

/// Writes one chat in the form that the ending of `path` names: md, html, pdf, json. Throws Error.
void exportChat(const WholeChat& whole, const QString& path);
/// Writes all of them as JSON. Throws Error.
void exportChats(const QList<WholeChat>& chats, const QString& path);

/// Chats from a file of this program, conversations.json of ChatGPT, or an export of llama.cpp's web interface (with and
/// without branches), with new ids. Messages of tools are left out, what is no text becomes a word for it; what does not
/// hang together stays as a branch of its own. Throws Error: none of these, nothing in it.
QList<WholeChat> readChats(const QByteArray& bytes);
QList<WholeChat> importChats(const QString& path);

}  // namespace hearth::ui
