#include <QProcess>
#include <QTest>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "engine/base/error.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/kernels.h"

using namespace hearth;
using cpu::Isa;

class TestIsa : public QObject {
    Q_OBJECT
private slots:
    void levelsAreInOrder() {
        const auto isas = cpu::availableIsas();
        QVERIFY(!isas.empty() && isas.front() == Isa::generic);
        QVERIFY(std::ranges::is_sorted(isas));
        for (const Isa isa : isas) QVERIFY(cpu::kernels(isa).isa == isa);
    }

    /// The level is resolved once a process, so each case is a run of this program that prints what it got.
    void environmentDecides() {
        const auto ask = [](const char* value) {
            QProcess child;
            QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
            environment.insert("HEARTH_ISA", value);
            child.setProcessEnvironment(environment);
            child.start(QCoreApplication::applicationFilePath(), {"--print"});
            child.waitForFinished();
            return child.readAllStandardOutput().trimmed();
        };
        const auto isas = cpu::availableIsas();
        for (const Isa isa : isas) {
            const std::string name(cpu::isaName(isa));
            QCOMPARE(ask(name.c_str()), QByteArray::fromStdString(name));
        }
        QCOMPARE(ask(""), QByteArray::fromStdString(std::string(cpu::isaName(isas.back()))));
        const QByteArray unknown = ask("sse9");
        QVERIFY2(unknown.contains("\"sse9\"") && unknown.contains("no such level") && unknown.contains("generic"), unknown.constData());
        for (const Isa isa : {Isa::avx2, Isa::avxvnni, Isa::avx512})
            if (std::ranges::find(isas, isa) == isas.end())
                QVERIFY(ask(std::string(cpu::isaName(isa)).c_str()).contains("this processor does not have it"));
    }
};

int main(int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "--print") {
        try {
            std::puts(std::string(cpu::isaName(cpu::activeIsa())).c_str());
        } catch (const Error& error) {
            std::puts(error.what());
        }
        return 0;
    }
    QCoreApplication application(argc, argv);
    TestIsa test;
    return QTest::qExec(&test, argc, argv);
}
#include "test_isa.moc"
