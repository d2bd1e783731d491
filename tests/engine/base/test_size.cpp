#include <QtTest>

#include "engine/base/size.h"

class TestSize : public QObject {
    Q_OBJECT

private slots:
    void parses_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<quint64>("bytes");
        const std::pair<const char*, quint64> cases[] = {{"6", 6442450944},
                                                         {"6G", 6442450944},
                                                         {"6g", 6442450944},
                                                         {"6GiB", 6442450944},
                                                         {"6 GiB", 6442450944},
                                                         {"6GB", 6000000000},
                                                         {"1.5G", 1610612736},
                                                         {"0.5", 536870912},
                                                         {"512M", 536870912},
                                                         {"512MB", 512000000},
                                                         {"64K", 65536},
                                                         {"2T", 2199023255552},
                                                         {"1TB", 1000000000000},
                                                         {"1048576", 1048576},
                                                         {"1048575", 1125898833100800},
                                                         {"123456789", 123456789},
                                                         {"10B", 10},
                                                         {"0", 0},
                                                         {"0G", 0}};
        for (const auto& [text, bytes] : cases) QTest::newRow(text) << text << bytes;
    }
    void parses() {
        QFETCH(QString, text);
        QFETCH(quint64, bytes);
        QCOMPARE(hearth::parseSize(text.toStdString()), std::optional<uint64_t>(bytes));
    }

    void refuses_data() {
        QTest::addColumn<QString>("text");
        for (const char* text : {"", " ", "G", "GiB", "6X", "6GG", "6GBs", "-1", "-1G", "6,5G", "nan", "inf", "1e3",
                                 "0x10", "6G ", " 6G", "6  G", "99999999999G", "8388608T"})
            QTest::newRow(*text == '\0' ? "(empty)" : text) << text;
    }
    void refuses() {
        QFETCH(QString, text);
        QVERIFY(!hearth::parseSize(text.toStdString()));
    }

    void shows() {
        QCOMPARE(hearth::formatSize(6442450944), std::string("6.00 GiB"));
        QCOMPARE(hearth::formatSize(1288490189), std::string("1.20 GiB"));
        QCOMPARE(hearth::formatSize(1572864), std::string("1.5 MiB"));
        QCOMPARE(hearth::formatSize(0), std::string("0.0 MiB"));
    }
};

QTEST_GUILESS_MAIN(TestSize)
#include "test_size.moc"
