#include "ui/chat/message_item.h"

#include <QAbstractTextDocumentLayout>
#include <QCoreApplication>
#include <QLocale>
#include <QTextBlock>
#include <QTextCursor>
#include <algorithm>
#include <cmath>

#include "ui/chat/code_highlighter.h"
#include "ui/chat/conversation_model.h"

namespace hearth::ui {
namespace {

using Model = ConversationModel;

Model::State stateOf(const QModelIndex& index) { return index.data(Model::StateRole).value<Model::State>(); }
bool isUser(const QModelIndex& index) { return index.data(Model::AuthorRole).value<Role>() == Role::User; }
struct MessageWords {
    Q_DECLARE_TR_FUNCTIONS(MessageItem)
};

QFont smaller(const QFont& font) {
    QFont small = font;
    if (font.pointSizeF() > 0) small.setPointSizeF(font.pointSizeF() * 0.9);
    return small;
}

}  // namespace

std::vector<MessageItem::Wanted> MessageItem::wanted(const QModelIndex& index) {
    std::vector<Wanted> all;
    const QString thinking = index.data(Model::ThinkingRole).toString(), body = index.data(Model::TextRole).toString();
    if (!thinking.isEmpty() && !index.data(Model::FoldedRole).toBool()) all.push_back({Kind::Thinking, thinking, {}});
    if (isUser(index)) {
        all.push_back({Kind::Note, body, {}});   // what people type is shown as they typed it
    } else {
        blocks_ = body.startsWith(split_) ? splitFurther(body, std::move(blocks_)) : splitMarkdown(body);
        split_ = body;
        for (const MarkdownBlock& block : blocks_)
            all.push_back({block.code ? Kind::Code : Kind::Prose, block.text, block.language});
    }
    for (const QString& note : index.data(Model::NotesRole).toStringList()) all.push_back({Kind::Note, note, {}});
    return all;
}

void MessageItem::fill(Segment& segment, const Wanted& wanted, const ChatStyle& style) {
    const bool grows = segment.document && segment.kind == wanted.kind && segment.kind != Kind::Prose &&
                       (!segment.source.isEmpty() || segment.kind != Kind::Code) &&
                       segment.language == wanted.language && wanted.source.startsWith(segment.source);
    if (grows) {
        segment.document->append(wanted.source.mid(segment.source.size()));
    } else {
        segment.highlighter.reset();
        segment.document = std::make_unique<MarkdownDocument>();
        segment.document->setDefaultFont(wanted.kind == Kind::Thinking ? smaller(style.font) : style.font);
        if (wanted.kind == Kind::Prose) segment.document->setSource(wanted.source, style.palette);
        else if (wanted.kind == Kind::Code) {
            segment.document->setCode(wanted.source);
            // With the first line of code the name of the language is whole.
            if (!wanted.source.isEmpty())
                segment.highlighter = highlighterFor(*segment.document, wanted.language, style.palette);
        } else segment.document->setPlainText(wanted.source);
    }
    segment.kind = wanted.kind;
    segment.source = wanted.source;
    segment.language = wanted.language;
}

void MessageItem::estimate(const QModelIndex& index, const ChatStyle& style) {
    const QFontMetricsF metrics(style.font);
    const double characters = static_cast<double>(index.data(Model::TextRole).toString().size());
    const double lines = std::ceil(characters * metrics.averageCharWidth() / std::max(style.width, 50.0)) + 4;
    height_ = lines * metrics.lineSpacing();
    laid_out_ = false;
}

void MessageItem::release() {
    segments_.clear();
    blocks_.clear();
    split_.clear();
    laid_out_ = false;
}

double MessageItem::update(const QModelIndex& index, const ChatStyle& style) {
    const bool fresh = !laid_out_;
    const double footer = footer_.top();
    if (font_ != style.font) segments_.clear();
    font_ = style.font;
    user_ = isUser(index);
    std::vector<Wanted> all = wanted(index);
    if (segments_.size() > all.size()) segments_.resize(all.size());
    const auto top = [](const Segment& s) { return (s.box.isNull() ? s.text : s.box).top(); };
    double from = footer;
    size_t first = all.size();
    for (size_t i = 0; i < all.size(); ++i) {
        if (i == segments_.size()) segments_.emplace_back();
        Segment& s = segments_[i];
        if (!s.document || s.kind != all[i].kind || s.source != all[i].source || s.language != all[i].language) {
            if (s.document) from = std::min(from, top(s));
            first = std::min(first, i);
            fill(s, all[i], style);
        }
    }
    place(index, style);
    laid_out_ = true;
    const bool thinks = !fold_.isNull() && stateOf(index) == Model::State::Streaming;
    if (fresh || thinks) return 0;
    return std::min({from, footer_.top(), first < all.size() ? top(segments_[first]) : footer_.top()});
}

void MessageItem::place(const QModelIndex& index, const ChatStyle& style) {
    const double em = style.em(), pad = std::round(em * 0.6), gap = std::round(em * 0.5);
    const double left = user_ ? pad : 0, width = style.width - 2 * left;
    double y = user_ ? pad * 0.8 : 0;
    name_ = {left, y, width, std::ceil(em)};
    y = name_.bottom() + std::round(em * 0.25);
    fold_ = {};
    if (!index.data(Model::ThinkingRole).toString().isEmpty()) {
        fold_ = {0, y, QFontMetricsF(style.font).horizontalAdvance(foldLabel(index)) + em, std::ceil(em * 1.3)};
        y = fold_.bottom() + gap * 0.5;
    }
    for (size_t i = 0; i < segments_.size(); ++i) {
        Segment& s = segments_[i];
        const bool code = s.kind == Kind::Code;
        if (code) s.document->setWraps(!unwrapped_.contains(static_cast<int>(i)));
        const double inset = code ? pad : s.kind == Kind::Thinking ? pad : 0;
        const double head = code ? std::ceil(em * 1.4) : 0;
        if (s.document->textWidth() != width - 2 * inset) s.document->setTextWidth(width - 2 * inset);
        const double h = std::ceil(s.document->size().height());
        s.text = {left + inset, y + head + (code ? pad * 0.5 : 0), width - 2 * inset, h};
        s.box = s.copy = s.save = s.wrap = {};
        if (code) {
            s.box = {left, y, width, head + h + pad};
            const double label = QFontMetricsF(smaller(style.font)).horizontalAdvance(MessageWords::tr("Copy")) + em;
            s.copy = {s.box.right() - label, y, label, head};
            const double save = QFontMetricsF(smaller(style.font)).horizontalAdvance(MessageWords::tr("Save …")) + em;
            s.save = {s.copy.left() - save, y, save, head};
            const double wrap =
                QFontMetricsF(smaller(style.font)).horizontalAdvance(MessageWords::tr("Do not wrap")) + em;
            s.wrap = {s.save.left() - wrap, y, wrap, head};
        }
        y = (code ? s.box.bottom() : s.text.bottom()) + gap;
    }
    if (segments_.empty() && stateOf(index) == Model::State::Waiting) y += em;
    footer_ = user_ ? QRectF(left, y, width, 0) : QRectF(0, y - gap * 0.3, width, std::ceil(em * 1.3));
    bubble_ = user_ ? QRectF(0, 0, style.width, y - gap + pad) : QRectF();
    height_ = std::ceil((user_ ? bubble_.bottom() : footer_.bottom()) + em * 0.9);
}

QString MessageItem::foldLabel(const QModelIndex& index) {
    const double seconds = index.data(Model::ThinkingSecondsRole).toDouble();
    const bool running = stateOf(index) == Model::State::Streaming && index.data(Model::TextRole).toString().isEmpty();
    const QString words = running ? MessageWords::tr("Thinking … %1 s") : MessageWords::tr("Thought for %1 s");
    return (index.data(Model::FoldedRole).toBool() ? QStringLiteral("▸ ") : QStringLiteral("▾ ")) +
           words.arg(QLocale().toString(seconds, 'f', seconds < 10 ? 1 : 0));
}

QString MessageItem::figures(const QModelIndex& index) {
    const uint tokens = index.data(Model::TokensRole).toUInt();
    if (tokens == 0) return {};
    const QLocale locale;
    const double speed = index.data(Model::SpeedRole).toDouble();
    QStringList parts;
    if (speed > 0) parts << MessageWords::tr("%1 tokens/s").arg(locale.toString(speed, 'f', 1));
    parts << (tokens == 1 ? MessageWords::tr("1 token") : MessageWords::tr("%1 tokens").arg(locale.toString(tokens)));
    if (const int rating = index.data(Model::RatingRole).toInt(); rating != 0)
        parts.prepend(rating > 0 ? MessageWords::tr("rated good") : MessageWords::tr("rated bad"));
    parts << MessageWords::tr("%1 s").arg(locale.toString(index.data(Model::SecondsRole).toDouble(), 'f', 1));
    return parts.join(QStringLiteral(" · "));
}

std::vector<MessageItem::Button> MessageItem::buttons(const Options& options) const {
    std::vector<Button> all;
    const QFontMetricsF metrics(smaller(font_));
    const QRectF row = user_ ? name_ : footer_;
    double right = row.right();
    const auto add = [&](Action action, const QString& label) {
        const double w = metrics.horizontalAdvance(label) + metrics.height();
        all.push_back({action, label, {right - w, row.top(), w, std::max(row.height(), metrics.height())}});
        right -= w;
    };
    if (options.idle || !options.last) {
        if (user_) {
            if (options.hovered) add(Action::Copy, MessageWords::tr("Copy"));
            if (options.idle && (options.hovered || options.last)) add(Action::Edit, MessageWords::tr("Edit"));
        } else {
            if (options.idle && (options.hovered || options.last))
                add(Action::Regenerate, MessageWords::tr("Regenerate"));
            if (options.resumable) add(Action::Resume, MessageWords::tr("Continue"));
            add(Action::Copy, MessageWords::tr("Copy"));
        }
    }
    if (options.branches > 1) {
        add(Action::Next, QStringLiteral("›"));
        add(Action::None, QStringLiteral("%1/%2").arg(options.branch).arg(options.branches));
        add(Action::Previous, QStringLiteral("‹"));
    }
    return all;
}

MessageItem::Hit MessageItem::hit(const QPointF& point, const Options& options) const {
    for (const Button& b : buttons(options))
        if (b.action != Action::None && b.rect.contains(point)) return {.action = b.action};
    if (fold_.contains(point)) return {.action = Action::Fold};
    Hit nearest;
    for (int i = 0; i < segments(); ++i) {
        const Segment& s = segments_[static_cast<size_t>(i)];
        if (s.copy.contains(point)) return {.action = Action::CopyCode, .segment = i};
        if (s.save.contains(point)) return {.action = Action::SaveCode, .segment = i};
        if (s.wrap.contains(point)) return {.action = Action::WrapCode, .segment = i};
        if (point.y() < s.text.top() && nearest.segment >= 0) break;
        const QAbstractTextDocumentLayout* layout = s.document->documentLayout();
        nearest.segment = i;
        const auto moved = unwrapped_.find(i);
        const QPointF aside(moved == unwrapped_.end() ? 0 : moved->second, 0);
        nearest.position = std::max(0, layout->hitTest(point - s.text.topLeft() + aside, Qt::FuzzyHit));
        nearest.link = s.text.contains(point) ? layout->anchorAt(point - s.text.topLeft()) : QString();
        if (point.y() <= s.text.bottom()) break;
    }
    return nearest;
}

void MessageItem::toggleWrap(int segment) {
    if (segment < 0 || segment >= segments()) return;
    if (unwrapped_.erase(segment) == 0) unwrapped_[segment] = 0;
}

bool MessageItem::scrollCode(int segment, double by) {
    const auto found = unwrapped_.find(segment);
    if (found == unwrapped_.end() || segment >= segments()) return false;
    const Segment& s = segments_[static_cast<size_t>(segment)];
    const double most = std::max(0.0, s.document->idealWidth() - s.text.width());
    found->second = std::clamp(found->second + by, 0.0, most);
    return most > 0;
}

QString MessageItem::segmentText(int segment) const {
    return segment >= 0 && segment < segments() ? segments_[static_cast<size_t>(segment)].source : QString();
}

QString MessageItem::segmentLanguage(int segment) const {
    return segment >= 0 && segment < segments() ? segments_[static_cast<size_t>(segment)].language : QString();
}

QString MessageItem::selectedText(const Selection& selection) const {
    QStringList parts;
    for (int i = std::max(0, selection.from.segment); i <= std::min(selection.to.segment, segments() - 1); ++i) {
        const Segment& s = segments_[static_cast<size_t>(i)];
        const int end = s.document->characterCount() - 1;
        QTextCursor cursor(s.document.get());
        cursor.setPosition(i == selection.from.segment ? std::min(selection.from.position, end) : 0);
        cursor.setPosition(i == selection.to.segment ? std::min(selection.to.position, end) : end,
                           QTextCursor::KeepAnchor);
        QString part = cursor.selectedText();
        part.replace(QChar::ParagraphSeparator, u'\n').replace(QChar::LineSeparator, u'\n');
        if (!part.isEmpty()) parts << part;
    }
    return parts.join(QStringLiteral("\n\n"));
}

void MessageItem::paintSegment(QPainter& painter, const Segment& segment, int number, const ChatStyle& style,
                               const Selection* selection, const QRectF& clip) const {
    const QRectF all = segment.box.isNull() ? segment.text : segment.box;
    if (!all.intersects(clip)) return;
    const QColor muted = blended(style.palette, 0.62);
    if (segment.kind == Kind::Code) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(blended(style.palette, 0.06));
        painter.drawRoundedRect(segment.box, 6, 6);
        painter.setPen(muted);
        painter.setFont(smaller(style.font));
        const QRectF head(segment.box.left(), segment.box.top(), segment.box.width(), segment.copy.height());
        painter.drawText(head.adjusted(segment.text.left() - segment.box.left(), 0, 0, 0),
                         Qt::AlignVCenter | Qt::AlignLeft,
                         segment.language.isEmpty() ? MessageWords::tr("code") : segment.language);
        painter.setPen(style.palette.color(QPalette::Link));
        painter.drawText(segment.copy, Qt::AlignCenter, MessageWords::tr("Copy"));
        painter.drawText(segment.save, Qt::AlignCenter, MessageWords::tr("Save …"));
        painter.drawText(segment.wrap, Qt::AlignVCenter | Qt::AlignRight,
                         unwrapped_.contains(number) ? MessageWords::tr("Wrap") : MessageWords::tr("Do not wrap"));
    } else if (segment.kind == Kind::Thinking) {
        painter.fillRect(QRectF(0, segment.text.top(), 3, segment.text.height()), blended(style.palette, 0.2));
    }
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette = style.palette;
    if (segment.kind == Kind::Thinking || (segment.kind == Kind::Note && !user_))
        context.palette.setColor(QPalette::Text, muted);
    const auto moved = unwrapped_.find(number);
    const QPointF origin = segment.text.topLeft() - QPointF(moved == unwrapped_.end() ? 0 : moved->second, 0);
    context.clip = clip.translated(-origin);
    if (selection != nullptr && number >= selection->from.segment && number <= selection->to.segment) {
        const int end = segment.document->characterCount() - 1;
        QAbstractTextDocumentLayout::Selection mark;
        mark.cursor = QTextCursor(segment.document.get());
        mark.cursor.setPosition(number == selection->from.segment ? std::min(selection->from.position, end) : 0);
        mark.cursor.setPosition(number == selection->to.segment ? std::min(selection->to.position, end) : end,
                                QTextCursor::KeepAnchor);
        mark.format.setBackground(style.palette.brush(QPalette::Highlight));
        mark.format.setForeground(style.palette.brush(QPalette::HighlightedText));
        context.selections.push_back(mark);
    }
    painter.save();
    if (moved != unwrapped_.end()) painter.setClipRect(segment.text, Qt::IntersectClip);
    painter.translate(origin);
    segment.document->documentLayout()->draw(&painter, context);
    painter.restore();
}

void MessageItem::paint(QPainter& painter, const QModelIndex& index, const ChatStyle& style, const Options& options,
                        const Selection* selection, const QRectF& clip) const {
    if (user_) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(blended(style.palette, 0.05));
        painter.drawRoundedRect(bubble_, 8, 8);
    }
    QFont bold = style.font;
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(style.palette.color(QPalette::Text));
    painter.drawText(
        name_, Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetricsF(bold).elidedText(index.data(Model::NameRole).toString(), Qt::ElideRight, name_.width() * 0.7));
    const QColor muted = blended(style.palette, 0.62);
    painter.setFont(style.font);
    painter.setPen(muted);
    if (!fold_.isNull()) painter.drawText(fold_, Qt::AlignVCenter | Qt::AlignLeft, foldLabel(index));
    for (int i = 0; i < segments(); ++i)
        paintSegment(painter, segments_[static_cast<size_t>(i)], i, style, selection, clip);
    painter.setFont(smaller(style.font));
    painter.setPen(muted);
    const Model::State state = stateOf(index);
    if (state == Model::State::Waiting)
        painter.drawText(footer_, Qt::AlignVCenter | Qt::AlignLeft, MessageWords::tr("Reading …"));
    else if (!user_) painter.drawText(footer_, Qt::AlignVCenter | Qt::AlignLeft, figures(index));
    painter.setPen(style.palette.color(QPalette::Link));
    for (const Button& b : buttons(options)) {
        painter.setPen(b.action == Action::None ? muted : style.palette.color(QPalette::Link));
        painter.drawText(b.rect, Qt::AlignCenter, b.label);
    }
    if (options.divider) paintDivider(painter, style);
}

void MessageItem::paintDivider(QPainter& painter, const ChatStyle& style) const {
    const double em = style.em();
    const QRectF line(0, -em * 0.9, style.width, em * 0.9);
    const QString words = MessageWords::tr("The model no longer sees what stands above");
    painter.setFont(smaller(style.font));
    painter.setPen(blended(style.palette, 0.62));
    const double half = QFontMetricsF(smaller(style.font)).horizontalAdvance(words) / 2 + em * 0.5;
    const double middle = line.center().x(), y = line.center().y();
    painter.drawText(line, Qt::AlignCenter, words);
    painter.drawLine(QPointF(0, y), QPointF(middle - half, y));
    painter.drawLine(QPointF(middle + half, y), QPointF(line.right(), y));
}

}  // namespace hearth::ui
