#include "ui/single_instance.h"

#include <QCryptographicHash>
#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLocalSocket>

namespace hearth::ui {
namespace {

constexpr int patience_ms = 2000;
constexpr qint64 longest_call = 1 << 20;   // a megabyte of paths

}  // namespace

SingleInstance::SingleInstance(const QString& data_folder, QObject* parent) : QObject(parent) {
    const QByteArray what = QDir(data_folder).absolutePath().toUtf8() + '\0' + QDir::homePath().toUtf8();
    name_ = QStringLiteral("hearth-") +
            QString::fromLatin1(QCryptographicHash::hash(what, QCryptographicHash::Sha256).toHex().left(24));
    server_.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&server_, &QLocalServer::newConnection, this, &SingleInstance::receive);
}

bool SingleInstance::handOver(const QStringList& files) {
    QLocalSocket first;
    first.connectToServer(name_);
    if (first.waitForConnected(patience_ms)) {
        first.write(QJsonDocument(QJsonArray::fromStringList(files)).toJson(QJsonDocument::Compact) + '\n');
        // The answer says that it was understood; a program that hangs does not get to swallow the files.
        if (first.waitForBytesWritten(patience_ms) && first.waitForReadyRead(patience_ms)) return true;
    }
    // Nobody there, but perhaps the socket of one that was killed.
    if (!server_.listen(name_)) {
        QLocalServer::removeServer(name_);
        server_.listen(name_);
    }
    return false;
}

void SingleInstance::receive() {
    while (QLocalSocket* socket = server_.nextPendingConnection()) {
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        connect(socket, &QLocalSocket::readyRead, this, [this, socket] {
            if (socket->bytesAvailable() > longest_call) return socket->abort();
            if (!socket->canReadLine()) return;
            QStringList files;
            for (const QJsonValue& file : QJsonDocument::fromJson(socket->readLine()).array()) files << file.toString();
            socket->write("taken\n");
            socket->disconnectFromServer();
            Q_EMIT called(files);
        });
    }
}

}  // namespace hearth::ui
