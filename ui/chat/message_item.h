#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QModelIndex>
#include <QPainter>
#include <QPalette>
#include <QRectF>
#include <QSyntaxHighlighter>
#include <map>
#include <memory>
#include <vector>

#include "ui/chat/markdown_blocks.h"
#include "ui/chat/markdown_document.h"

namespace hearth::ui {

/// Fonts, colours and widths that all messages share; when it changes, documents are made anew.
struct ChatStyle {
    QFont font;
    QPalette palette;
    double width = 0;   ///< of a message, pixels
    double em() const { return QFontMetricsF(font).height(); }
};

/// What a message is drawn from: segments below one another, each a document of its own, so that only the last one is laid
/// out again while text arrives. Coordinates are relative to the message.
class MessageItem {
public:
    enum class Action { None, Copy, Edit, Regenerate, Resume, Previous, Next, CopyCode, SaveCode, WrapCode, Fold };
    /// What lies at a point.
    struct Hit {
        Action action = Action::None;
        int segment = -1;  ///< of CopyCode, SaveCode and WrapCode, and of text
        int position = -1;  ///< in the segment's text, nearest to the point
        QString link = {};
    };
    /// Selected text: from one place to another, in (segment, position).
    struct Place {
        int segment = 0, position = 0;
        auto operator<=>(const Place&) const = default;
    };
    struct Selection {
        Place from, to;
    };
    struct Options {
        bool last = false, idle = false, hovered = false;  ///< idle: nothing is being answered
        bool divider = false;  ///< the model sees nothing above this message any more
        int branch = 1, branches = 1;
        bool resumable = false;  ///< a reply that was cut off
    };

    MessageItem() = default;
    MessageItem(MessageItem&&) = default;
    MessageItem& operator=(MessageItem&&) = default;

    /// An estimate until update() has laid the message out.
    double height() const { return height_; }
    bool laidOut() const { return laid_out_; }
    void estimate(const QModelIndex& index, const ChatStyle& style);
    /// Brings the documents to what the row says and lays them out. Returns from where on it looks different, in pixels below
    /// its top.
    double update(const QModelIndex& index, const ChatStyle& style);
    /// Forgets the documents, keeps the height.
    void release();

    void paint(QPainter& painter, const QModelIndex& index, const ChatStyle& style, const Options& options,
               const Selection* selection, const QRectF& clip) const;
    Hit hit(const QPointF& point, const Options& options) const;
    QString selectedText(const Selection& selection) const;
    QString segmentText(int segment) const;
    QString segmentLanguage(int segment) const;
    /// Long lines of a block of code go on in the next line, or to the right. Looks different after the next update().
    void toggleWrap(int segment);
    /// Moves code that goes on to the right by so many pixels; false where there is nothing to move.
    bool scrollCode(int segment, double by);
    int segments() const { return static_cast<int>(segments_.size()); }

private:
    enum class Kind { Prose, Code, Thinking, Note };
    struct Wanted {
        Kind kind;
        QString source, language;
    };
    struct Segment {
        Kind kind = Kind::Prose;
        QString source, language;
        std::unique_ptr<MarkdownDocument> document;
        std::unique_ptr<QSyntaxHighlighter> highlighter;  ///< of code in a language that is known
        QRectF text, box, copy, save, wrap;  ///< all but the first: of code
    };
    struct Button {
        Action action;
        QString label;
        QRectF rect;
    };
    std::vector<Wanted> wanted(const QModelIndex& index);
    static void fill(Segment& segment, const Wanted& wanted, const ChatStyle& style);
    void place(const QModelIndex& index, const ChatStyle& style);
    std::vector<Button> buttons(const Options& options) const;
    void paintSegment(QPainter& painter, const Segment& segment, int number, const ChatStyle& style,
                      const Selection* selection, const QRectF& clip) const;
    void paintDivider(QPainter& painter, const ChatStyle& style) const;
    static QString foldLabel(const QModelIndex& index);
    static QString figures(const QModelIndex& index);

    std::vector<Segment> segments_;
    std::map<int, double> unwrapped_;  ///< segment → pixels that it is moved to the left
    QString split_;  ///< the text that blocks_ are of
    QList<MarkdownBlock> blocks_;
    QRectF bubble_, name_, fold_, footer_;
    double height_ = 0;
    bool laid_out_ = false, user_ = false;
    QFont font_;
};

}  // namespace hearth::ui
