#pragma once

#include <QLocalServer>
#include <QObject>
#include <QStringList>

namespace hearth::ui {

/// One program for each user and data folder: the first one listens, later ones hand over their files and go.
class SingleInstance : public QObject {
    Q_OBJECT

public:
    /// `data_folder`: what two programs must not share.
    explicit SingleInstance(const QString& data_folder, QObject* parent = nullptr);

    /// True: another program runs and has taken the files; this one has nothing left to do. Otherwise this one listens.
    bool handOver(const QStringList& files);

Q_SIGNALS:
    /// Another program was started; with these files, absolute.
    void called(const QStringList& files);

private:
    void receive();

    QString name_;
    QLocalServer server_;
};

}  // namespace hearth::ui
