#include <QDir>
#include <QRegularExpression>
#include <QXmlStreamReader>
#include <QtTest>

/// The files of words: what is translated keeps its places for numbers and names, and English is whole.
class TestTranslations : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void placesAreKept_data();
    void placesAreKept();
};

namespace {

QStringList places(const QString& text) {
    static const QRegularExpression place(QStringLiteral("%(\\d|n)"));
    QStringList all;
    for (const auto& match : place.globalMatch(text)) all << match.captured();
    all.sort();
    return all;
}

}  // namespace

void TestTranslations::placesAreKept_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(QStringLiteral(HEARTH_SOURCE_DIR "/resources/translations"));
    for (const QString& name : folder.entryList({QStringLiteral("*.ts")}))
        QTest::newRow(qPrintable(name)) << folder.filePath(name);
}

void TestTranslations::placesAreKept() {
    QFETCH(QString, path);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QXmlStreamReader xml(&file);
    QString source;
    int finished = 0, unfinished = 0;
    const auto check = [&](const QString& words) {
        QVERIFY2(!words.isEmpty(), qPrintable(source));
        QVERIFY2(places(words) == places(source), qPrintable(source + QStringLiteral(" → ") + words));
    };
    bool counts = false;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) continue;
        if (xml.name() == QStringLiteral("source")) {
            source = xml.readElementText();
        } else if (xml.name() == QStringLiteral("translation")) {
            counts = xml.attributes().value(QStringLiteral("type")).isEmpty();
            ++(counts ? finished : unfinished);
            const QString words = xml.readElementText(QXmlStreamReader::IncludeChildElements).trimmed();
            // Forms of a number stand apart.
            const QStringList forms = words.split(QRegularExpression(QStringLiteral("\\n\\s*")), Qt::SkipEmptyParts);
            if (counts)
                for (const QString& form : source.contains(QStringLiteral("%n")) ? forms : QStringList{words})
                    check(form);
        }
    }
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    QVERIFY(finished > 0);
    if (path.endsWith(QStringLiteral("hearth_en.ts"))) QCOMPARE(unfinished, 0);
}

QTEST_GUILESS_MAIN(TestTranslations)
#include "test_translations.moc"
