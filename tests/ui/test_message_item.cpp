#include <QAbstractTextDocumentLayout>
#include <QImage>
#include <QTextBlock>
#include <QtTest>

#include "ui/chat/conversation_model.h"
#include "ui/chat/message_item.h"

using namespace hearth::ui;

/// How one message is laid out and painted.
class TestMessageItem : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void codeIsWrappedOrNot();
    void tablesHaveLines();
    void paragraphsHaveTheirDirection();

private:
    static ChatStyle style() {
        ChatStyle style;
        style.font = QApplication::font();
        style.palette = QPalette(Qt::black, Qt::white);
        style.palette.setColor(QPalette::Base, Qt::white);
        style.palette.setColor(QPalette::Text, Qt::black);
        style.width = 400;
        return style;
    }
};

namespace {

struct Reply {
    ConversationModel model;
    explicit Reply(const QString& text) {
        model.addUserMessage(QStringLiteral("?"));
        model.beginReply(QStringLiteral("Fake"));
        model.append({{Channel::Answer, text}}, 1);
    }
    QModelIndex index() { return model.index(1); }
};

QPointF placeOf(const MessageItem& item, MessageItem::Action action) {
    for (double y = 0; y < item.height(); y += 3)
        for (double x = 0; x < 400; x += 3)
            if (item.hit({x, y}, {}).action == action) return {x, y};
    return {-1, -1};
}

QImage pictureOf(const MessageItem& item, const QModelIndex& index, const ChatStyle& style) {
    QImage image(static_cast<int>(style.width), static_cast<int>(item.height()), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    item.paint(painter, index, style, {}, nullptr, QRectF(image.rect()));
    return image;
}

}  // namespace

void TestMessageItem::codeIsWrappedOrNot() {
    Reply reply(
        QStringLiteral("```cpp\nint x = 0; // %1\n```\n").arg(QStringLiteral("a very long line ").repeated(20)));
    MessageItem item;
    item.update(reply.index(), style());
    const double wrapped = item.height();
    const QPointF button = placeOf(item, MessageItem::Action::WrapCode);
    QVERIFY(button.x() >= 0);
    const int segment = item.hit(button, {}).segment;
    QVERIFY(!item.scrollCode(segment, 50));   // there is nothing to the right
    item.toggleWrap(segment);
    item.update(reply.index(), style());
    QVERIFY(item.height() < wrapped - 3 * style().em());
    // What is to the right comes into sight, and nothing is painted beside the block.
    const QImage before = pictureOf(item, reply.index(), style());
    QVERIFY(item.scrollCode(segment, 120));
    const QImage after = pictureOf(item, reply.index(), style());
    QVERIFY(before != after);
    const int at = item.hit({200, item.height() / 2}, {}).position;
    item.scrollCode(segment, 1e9);
    QVERIFY(item.hit({200, item.height() / 2}, {}).position > at);
    item.toggleWrap(segment);
    item.update(reply.index(), style());
    QCOMPARE(item.height(), wrapped);
}

void TestMessageItem::tablesHaveLines() {
    Reply reply(QStringLiteral("| aaa | bbb |\n|---|---|\n| ccc | ddd |\n\nend\n"));
    MessageItem item;
    item.update(reply.index(), style());
    const QImage picture = pictureOf(item, reply.index(), style());
    // A line from left to right is a row of pixels of one colour that is neither the background's nor the text's.
    int lines = 0;
    bool inside = false;
    for (int y = 0; y < picture.height(); ++y) {
        int same = 0;
        for (int x = 4; x < 60; ++x) {
            const int grey = qGray(picture.pixel(x, y));
            same += grey < 245 && grey > 60 ? 1 : 0;
        }
        const bool line = same > 50;
        if (line && !inside) ++lines;
        inside = line;
    }
    QCOMPARE(lines, 3);   // above, between and below two rows
}

void TestMessageItem::paragraphsHaveTheirDirection() {
    MarkdownDocument document;
    document.setDefaultFont(QApplication::font());
    document.setSource(QStringLiteral("Left to right.\n\nمرحبا بالعالم\n"), style().palette);
    document.setTextWidth(400);
    QList<QTextBlock> blocks;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        if (!block.text().isEmpty()) blocks << block;
    QCOMPARE(blocks.size(), 2);
    const auto middle = [&document](const QTextBlock& block) {
        (void)document.documentLayout()->blockBoundingRect(block);
        return block.layout()->lineAt(0).naturalTextRect().center().x();
    };
    QVERIFY2(middle(blocks[0]) < 150, qPrintable(QString::number(middle(blocks[0]))));
    QVERIFY2(middle(blocks[1]) > 250, qPrintable(QString::number(middle(blocks[1]))));
    QCOMPARE(blocks[1].textDirection(), Qt::RightToLeft);
    // Code stays left to right, whatever its comments are written in.
    MarkdownDocument code;
    code.setCode(QStringLiteral("// مرحبا\nint x;"));
    code.setTextWidth(400);
    QCOMPARE(code.begin().textDirection(), Qt::LeftToRight);
}

QTEST_MAIN(TestMessageItem)
#include "test_message_item.moc"
