#pragma once

#include <QFutureWatcher>
#include <QString>
#include <QtConcurrent>
#include <functional>

#include "ui/sentence.h"

namespace hearth::ui {

/// What work gave, or in words why it gave nothing.
template <typename T>
struct Result {
    T value = {};
    QString problem = {};
};

/// Does `work`, which may throw Error, on another thread, and then `after` on this one, unless `owner` is gone by then.
template <typename T>
void inBackground(QObject* owner, const std::function<T()>& work, const std::function<void(const Result<T>&)>& after) {
    auto* watcher = new QFutureWatcher<Result<T>>(owner);
    QObject::connect(watcher, &QFutureWatcherBase::finished, owner, [watcher, after] {
        watcher->deleteLater();
        after(watcher->result());
    });
    watcher->setFuture(QtConcurrent::run([work]() -> Result<T> {
        try {
            return {work(), {}};
        } catch (const Error& error) {
            return {{}, sentenceOf(error)};
        }
    }));
}

}  // namespace hearth::ui
