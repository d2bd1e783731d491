#pragma once

#include <QtTest>

#include <functional>

#include "tests/support/fixtures.h"

namespace hearth::test {

/// A data row ("json", "name") for each model with expected logits whose name `wanted` takes: the project's own and, where
/// they are, the larger fixtures. No row at all is a failure.
inline void addModelRows(const std::function<bool(const QString&)>& wanted) {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("name");
    size_t found = 0;
    const auto addFolder = [&](const std::filesystem::path& folder, const char* where) {
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const QString name = QString::fromStdString(entry.path().stem().string());
            if (entry.path().extension() != ".json" || !wanted(name)) continue;
            QTest::newRow(qPrintable(name + " (" + where + ")"))
                << QString::fromStdString(entry.path().string()) << name;
            ++found;
        }
    };
    addFolder(dataFolder() / "models", "ours");
    if (const std::filesystem::path larger = fixturesFolder(); !larger.empty()) addFolder(larger / "models", "shared");
    else qInfo("the larger fixtures are not here: only the project's own models are tried");
    QVERIFY(found > 0);
}

}  // namespace hearth::test
