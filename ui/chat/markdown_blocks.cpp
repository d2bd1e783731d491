#include "ui/chat/markdown_blocks.h"

namespace hearth::ui {
namespace {

/// A line that opens or may close a fence: how far it is indented, its character, how many, and what follows.
struct Fence {
    qsizetype indent = 0, length = 0;
    QChar mark;
    QStringView rest;
};

bool readFence(QStringView line, Fence& fence) {
    qsizetype at = 0;
    while (at < line.size() && line[at] == u' ') ++at;
    if (at >= line.size() || (line[at] != u'`' && line[at] != u'~')) return false;
    const qsizetype begin = at;
    while (at < line.size() && line[at] == line[begin]) ++at;
    fence = {begin, at - begin, line[begin], line.mid(at).trimmed()};
    // The info string of a backtick fence holds no backtick, or `` `a` `` would open one.
    return fence.length >= 3 && (fence.mark == u'~' || !fence.rest.contains(u'`'));
}

bool isListMarker(QStringView line) {
    if (line.isEmpty()) return false;
    qsizetype at = 0;
    if (line[0] == u'-' || line[0] == u'+' || line[0] == u'*') at = 1;
    else {
        while (at < line.size() && at < 9 && line[at].isDigit()) ++at;
        if (at == 0 || at >= line.size() || (line[at] != u'.' && line[at] != u')')) return false;
        ++at;
    }
    return at >= line.size() || line[at] == u' ' || line[at] == u'\t';
}

class Splitter {
public:
    QList<MarkdownBlock> split(QStringView source) {
        qsizetype at = 0;
        while (at < source.size()) {
            qsizetype end = source.indexOf(u'\n', at);
            if (end < 0) end = source.size() - 1;
            at_ = at;
            take(source.mid(at, end + 1 - at));
            at = end + 1;
        }
        flush();
        return std::move(blocks_);
    }

private:
    void take(QStringView whole) {
        const QStringView line = whole.endsWith(u'\n') ? whole.chopped(1) : whole;
        Fence fence;
        const bool is_fence = readFence(line, fence);
        if (in_fence_) {
            const bool closes = is_fence && fence.indent < 4 + open_.indent && fence.mark == open_.mark &&
                                fence.length >= open_.length && fence.rest.isEmpty();
            if (!own_) text_ += whole;
            else if (!closes) text_ += whole;
            if (closes) {
                in_fence_ = false;
                if (own_) flush();
            }
            blank_ = false;
            return;
        }
        if (is_fence) {
            if (fence.indent == 0) {
                flush();
                begin_ = at_;
                own_ = true;
                language_ = fence.rest.left(fence.rest.indexOf(u' ') < 0 ? fence.rest.size() : fence.rest.indexOf(u' '))
                                .toString();
            } else {
                add(whole);   // inside a list or a quotation: rendered with what is around it
            }
            in_fence_ = true;
            open_ = fence;
            return;
        }
        const bool blank = line.trimmed().isEmpty();
        if (!blank) {
            const bool margin = !line[0].isSpace(), marker = isListMarker(line);
            if (blank_ && margin && !(marker && in_list_)) flush();
            if (margin && marker) in_list_ = true;
        }
        add(whole);
        blank_ = blank;
    }

    void add(QStringView line) {
        if (text_.isEmpty()) begin_ = at_;
        text_ += line;
    }

    void flush() {
        if (own_ || !text_.trimmed().isEmpty()) {
            if (own_ && text_.endsWith(u'\n')) text_.chop(1);
            blocks_.push_back({own_, language_, text_, begin_});
        }
        text_.clear();
        language_.clear();
        own_ = in_list_ = blank_ = false;
    }

    QList<MarkdownBlock> blocks_;
    QString text_, language_;
    qsizetype at_ = 0, begin_ = 0;
    Fence open_;
    bool in_fence_ = false, own_ = false, in_list_ = false, blank_ = false;
};

}  // namespace

QList<MarkdownBlock> splitMarkdown(QStringView source) { return Splitter().split(source); }

QList<MarkdownBlock> splitFurther(QStringView source, QList<MarkdownBlock> before) {
    if (before.size() < 2) return splitMarkdown(source);
    const qsizetype begin = before[before.size() - 2].begin;
    before.resize(before.size() - 2);
    for (MarkdownBlock& block : splitMarkdown(source.mid(begin))) {
        block.begin += begin;
        before.push_back(std::move(block));
    }
    return before;
}

}  // namespace hearth::ui
