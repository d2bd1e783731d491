#include "ui/exchange/text_file.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QStringDecoder>

#include "engine/base/error.h"

namespace hearth::ui {
namespace {

constexpr qint64 most_bytes = 4 << 20;

struct Words {
    Q_DECLARE_TR_FUNCTIONS(TextFile)
};

[[noreturn]] void refuse(const QString& path, const QString& why) {
    throw Error(Words::tr("the file %1 cannot be attached").arg(QFileInfo(path).fileName()).toStdString(),
                why.toStdString(), Words::tr("Attach a text file of at most 4 MiB").toStdString());
}

}  // namespace

QString readTextFile(const QString& path) {
    QFile file(path);
    if (!QFileInfo(path).isFile() || !file.open(QIODevice::ReadOnly))
        refuse(path, Words::tr("the file cannot be opened"));
    const QByteArray bytes = file.read(most_bytes + 1);
    if (bytes.size() > most_bytes) refuse(path, Words::tr("the file is too large"));
    QStringDecoder decoder(QStringDecoder::Utf8);
    QString text = decoder(bytes);
    if (decoder.hasError() || text.contains(QChar(0))) refuse(path, Words::tr("what is in the file is not text"));
    return text;
}

}  // namespace hearth::ui
