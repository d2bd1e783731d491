#include "ui/worker/worker.h"

#include <QMutex>
#include <algorithm>
#include <new>
#include <utility>

#include "engine/base/error.h"

namespace hearth::ui {
namespace {

constexpr int frame_ms = 16;

}  // namespace

struct Worker::Shared {
    mutable QMutex mutex;
    QList<TextPiece> pieces;   ///< not yet shown
    quint64 request = 0;       ///< that they belong to
    bool wake_pending = false; ///< at most one wake-up is queued, however fast tokens come
    Statistics statistics;
};

Worker::Worker(std::unique_ptr<Engine> engine, QObject* parent)
    : QObject(parent), engine_(std::move(engine)), shared_(std::make_unique<Shared>()), context_(new QObject) {
    thread_.setObjectName(QStringLiteral("engine"));
    context_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, context_, &QObject::deleteLater);
    frame_.setSingleShot(true);
    frame_.setTimerType(Qt::PreciseTimer);
    connect(&frame_, &QTimer::timeout, this, &Worker::drain);
    since_drain_.start();
    thread_.start();
}

Worker::~Worker() {
    for (const Open& open : open_) open.stop.request_stop();
    thread_.quit();
    thread_.wait();
}

quint64 Worker::load(const QString& path, const LoadOptions& options) {
    return post([this, path, options](Ended& ended, quint64, std::stop_token stop) {
        ended.model = engine_->load(path, options, stop);
    });
}

quint64 Worker::unload() {
    return post([this](Ended& ended, quint64, std::stop_token) {
        engine_->unload();
        ended.unloaded = true;
    });
}

quint64 Worker::reply(const QList<ChatMessage>& messages, const ReplyOptions& options) {
    return post([this, messages, options](Ended& ended, quint64 request, std::stop_token stop) {
        const Engine::Listener listener{.text = [this, request](TextPiece piece) { take(request, std::move(piece)); },
                                        .statistics =
                                            [this](const Statistics& statistics) {
                                                const QMutexLocker lock(&shared_->mutex);
                                                shared_->statistics = statistics;
                                            }};
        ended.outcome = engine_->reply(messages, options, listener, stop);
        if (stop.stop_requested()) ended.kind = Ended::Stopped;
        listener.statistics(ended.outcome.statistics);
    });
}

quint64 Worker::post(Work work) {
    const quint64 request = ++last_request_;
    std::stop_source source;
    const std::stop_token token = source.get_token();
    open_.push_back({request, std::move(source)});
    if (open_.size() == 1) Q_EMIT busyChanged(true);
    QMetaObject::invokeMethod(
        context_,
        [this, request, token, work = std::move(work)] {
            const Ended ended = run(work, request, token);
            QMetaObject::invokeMethod(this, [this, request, ended] { close(request, ended); }, Qt::QueuedConnection);
        },
        Qt::QueuedConnection);
    return request;
}

/// On the engine's thread. Whatever is thrown becomes an ending.
Worker::Ended Worker::run(const Work& work, quint64 request, std::stop_token stop) {
    Ended ended;
    if (stop.stop_requested()) {
        ended.kind = Ended::Stopped;
        return ended;
    }
    try {
        work(ended, request, stop);
    } catch (const Stopped&) {
        ended.kind = Ended::Stopped;
    } catch (const Error& error) {
        ended.kind = Ended::Failed;
        ended.failure = {QString::fromStdString(error.whatFailed()), QString::fromStdString(error.why()),
                         QString::fromStdString(error.nextStep())};
    } catch (const std::bad_alloc&) {
        ended.kind = Ended::Failed;
        ended.failure = {tr("there is not enough memory"), tr("the system gave no more"),
                         tr("Choose a smaller context or a smaller model")};
    } catch (const std::exception& error) {
        ended.kind = Ended::Failed;
        ended.failure = {tr("something went wrong in the engine"), QString::fromUtf8(error.what()), {}};
    }
    return ended;
}

void Worker::stop() {
    for (const Open& open : open_) open.stop.request_stop();
}

void Worker::stop(quint64 request) {
    for (const Open& open : open_)
        if (open.request == request) open.stop.request_stop();
}

Statistics Worker::statistics() const {
    const QMutexLocker lock(&shared_->mutex);
    return shared_->statistics;
}

/// On the engine's thread.
void Worker::take(quint64 request, TextPiece piece) {
    const QMutexLocker lock(&shared_->mutex);
    shared_->request = request;
    if (!shared_->pieces.isEmpty() && shared_->pieces.back().channel == piece.channel)
        shared_->pieces.back().text += piece.text;
    else shared_->pieces.push_back(std::move(piece));
    if (!std::exchange(shared_->wake_pending, true))
        QMetaObject::invokeMethod(this, &Worker::wake, Qt::QueuedConnection);
}

/// The first token after a pause is shown at once; after that once a frame.
void Worker::wake() {
    const auto waited = since_drain_.elapsed();
    if (waited >= frame_ms) drain();
    else if (!frame_.isActive()) frame_.start(static_cast<int>(frame_ms - waited));
}

void Worker::drain() {
    QList<TextPiece> pieces;
    quint64 request = 0;
    {
        const QMutexLocker lock(&shared_->mutex);
        pieces.swap(shared_->pieces);
        request = shared_->request;
        shared_->wake_pending = false;
    }
    since_drain_.restart();
    if (!pieces.isEmpty()) Q_EMIT textArrived(request, pieces);
}

void Worker::close(quint64 request, const Ended& ended) {
    frame_.stop();
    drain();
    std::erase_if(open_, [request](const Open& open) { return open.request == request; });
    if (ended.model || ended.unloaded) {
        model_ = ended.model;
        {
            const QMutexLocker lock(&shared_->mutex);
            shared_->statistics = {};
        }
        Q_EMIT modelChanged();
    }
    // Whoever hears of the end may post the next request, so being idle is told first.
    if (open_.empty()) Q_EMIT busyChanged(false);
    switch (ended.kind) {
        case Ended::Finished: Q_EMIT finished(request, ended.outcome); break;
        case Ended::Stopped: Q_EMIT stopped(request, ended.outcome); break;
        case Ended::Failed: Q_EMIT failed(request, ended.failure); break;
    }
}

}  // namespace hearth::ui
