#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QThread>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "ui/worker/engine.h"

namespace hearth::ui {

/// The one door to the engine, for the GUI thread. Requests are done one after the other on a thread of their own; every
/// one ends in exactly one of finished, stopped and failed. Nothing here waits, but the destructor: it stops what runs.
class Worker : public QObject {
    Q_OBJECT

public:
    explicit Worker(std::unique_ptr<Engine> engine, QObject* parent = nullptr);
    ~Worker() override;

    /// Each returns the number of the request, by which the signals name it.
    quint64 load(const QString& path, const LoadOptions& options = {});
    quint64 reply(const QList<ChatMessage>& messages, const ReplyOptions& options = {});
    quint64 unload();

    /// Asks everything that has not ended to stop. The engine sees it at once, whatever is queued.
    void stop();
    void stop(quint64 request);

    bool busy() const { return !open_.empty(); }
    /// What is loaded, if anything is.
    const std::optional<ModelInfo>& model() const { return model_; }
    /// The newest figures of the reply that runs or ran last.
    Statistics statistics() const;

Q_SIGNALS:
    /// All the text since the last frame, at most once a frame and always before the end of its request.
    void textArrived(quint64 request, const QList<hearth::ui::TextPiece>& pieces);
    void finished(quint64 request, const hearth::ui::Outcome& outcome);
    void stopped(quint64 request, const hearth::ui::Outcome& outcome);
    void failed(quint64 request, const hearth::ui::Failure& failure);
    void busyChanged(bool busy);
    void modelChanged();

private:
    struct Open {
        quint64 request;
        std::stop_source stop;
    };
    struct Ended {
        enum Kind { Finished, Stopped, Failed } kind = Finished;
        Outcome outcome = {};
        Failure failure = {};
        std::optional<ModelInfo> model = {};
        bool unloaded = false;
    };
    struct Shared;
    using Work = std::function<void(Ended& ended, quint64 request, std::stop_token stop)>;

    quint64 post(Work work);
    static Ended run(const Work& work, quint64 request, std::stop_token stop);
    void take(quint64 request, TextPiece piece);
    void wake();
    void drain();
    void close(quint64 request, const Ended& ended);

    std::unique_ptr<Engine> engine_;  ///< called on thread_ only
    std::unique_ptr<Shared> shared_;  ///< read and written by both threads
    QThread thread_;
    QObject* context_;  ///< lives on thread_; requests are queued to it
    std::vector<Open> open_;  ///< not ended, oldest first
    quint64 last_request_ = 0;
    std::optional<ModelInfo> model_;
    QTimer frame_;
    QElapsedTimer since_drain_;
};

}  // namespace hearth::ui
