#include "ui/chat/maths.h"

#include <QHash>
#include <algorithm>

namespace hearth::ui {
namespace {

using namespace Qt::StringLiterals;

const QHash<QString, QString>& symbols() {
    static const QHash<QString, QString> all = [] {
        QHash<QString, QString> map;
        const QStringList pairs = QStringLiteral(
            "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ "
            "mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ "
            "Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω times × cdot · div ÷ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ "
            "approx ≈ equiv ≡ sim ∼ propto ∝ infty ∞ partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ oint ∮ in ∈ notin ∉ ni ∋ subset ⊂ "
            "subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ emptyset ∅ varnothing ∅ forall ∀ exists ∃ neg ¬ lnot ¬ land ∧ wedge ∧ "
            "lor ∨ vee ∨ to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ implies ⇒ Leftarrow ⇐ iff ⇔ "
            "Leftrightarrow ⇔ mapsto ↦ ldots … dots … cdots ⋯ vdots ⋮ circ ∘ bullet • star ⋆ oplus ⊕ otimes ⊗ perp ⊥ "
            "parallel ∥ angle ∠ degree ° hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ "
            "mid | prime ′ ll ≪ gg ≫ dagger † therefore ∴ because ∵ setminus ∖ lvert | rvert | lVert ‖ rVert ‖ "
            "mathbb{R} ℝ mathbb{N} ℕ mathbb{Z} ℤ mathbb{Q} ℚ mathbb{C} ℂ").split(u' ');
        for (qsizetype i = 0; i + 1 < pairs.size(); i += 2) map.insert(pairs[i], pairs[i + 1]);
        return map;
    }();
    return all;
}

/// Each character raised or lowered, or nothing when one of them has no such form.
QString shifted(const QString& text, bool up) {
    static const QString plain = u"0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW"_s,
                         raised = u"⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ"_s,
                         low = u"0123456789+-=()aehijklmnoprstuvx"_s, lowered = u"₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"_s;
    QString out;
    for (const QChar c : text) {
        const qsizetype at = (up ? plain : low).indexOf(c);
        if (at < 0) return {};
        out += (up ? raised : lowered)[at];
    }
    return out;
}

class Formula {
public:
    explicit Formula(QStringView source) : source_(source) {}

    QString read(int depth = 0) {
        QString out;
        while (at_ < source_.size() && source_[at_] != u'}') out += item(depth);
        return out;
    }
    QString all() {
        QString out = read();
        while (at_ < source_.size()) {   // a brace too many is a brace
            out += source_[at_++];
            out += read();
        }
        return out;
    }

private:
    static constexpr int deepest = 40;

    QString item(int depth) {
        const QChar c = source_[at_];
        if (c == u'\\') return command(depth);
        if (c == u'^' || c == u'_') {
            ++at_;
            const QString inside = argument(depth);
            const QString moved = shifted(inside, c == u'^');
            if (!moved.isEmpty()) return moved;
            return inside.size() <= 1 ? QString(c) + inside : c + u'(' + inside + u')';
        }
        if (c == u'{') {
            if (depth >= deepest) return QString(source_[at_++]);
            return group(depth);
        }
        ++at_;
        return c == u'~' || c == u'\n' ? u" "_s : c == u'&' ? QString() : QString(c);
    }

    QString group(int depth) {
        ++at_;
        QString inside = read(depth + 1);
        if (at_ < source_.size()) ++at_;
        return inside;
    }

    /// What a command or ^ takes: a group, a command or one character.
    QString argument(int depth) {
        while (at_ < source_.size() && source_[at_] == u' ') ++at_;
        if (at_ >= source_.size() || source_[at_] == u'}' || depth >= deepest) return {};
        if (source_[at_] == u'{') return group(depth);
        if (source_[at_] == u'\\') return command(depth + 1);
        return QString(source_[at_++]);
    }

    static QString wrapped(const QString& part) {
        const bool simple = std::ranges::all_of(part, [](QChar c) { return c.isLetterOrNumber() || c == u'.'; });
        return simple ? part : u'(' + part + u')';
    }

    QString command(int depth) {
        const qsizetype begin = at_++;
        while (at_ < source_.size() && source_[at_].isLetter()) ++at_;
        if (at_ == begin + 1) {   // a sign: \, \; are spaces, \\ ends a line, \{ is a brace
            const QChar sign = at_ < source_.size() ? source_[at_++] : QChar(u'\\');
            return sign == u'\\' ? u"  "_s : u",;:! "_s.contains(sign) ? u" "_s : sign == u'|' ? u"‖"_s : QString(sign);
        }
        const QString name = source_.mid(begin + 1, at_ - begin - 1).toString();
        if (name == u"frac"_s || name == u"dfrac"_s || name == u"tfrac"_s) {
            const QString above = argument(depth), below = argument(depth);
            return wrapped(above) + u'/' + wrapped(below);
        }
        if (name == u"sqrt"_s) return u"√"_s + wrapped(argument(depth));
        if (name == u"mathbb"_s) {
            const QString letter = argument(depth);
            return symbols().value(u"mathbb{%1}"_s.arg(letter), letter);
        }
        static const QStringList silent = {u"left"_s, u"right"_s, u"big"_s, u"Big"_s, u"bigg"_s, u"displaystyle"_s, u"limits"_s};
        if (silent.contains(name)) return {};
        static const QStringList text = {u"text"_s, u"mathrm"_s, u"mathbf"_s, u"mathit"_s, u"mathcal"_s, u"operatorname"_s,
                                         u"boxed"_s, u"textbf"_s, u"mathsf"_s, u"boldsymbol"_s};
        if (text.contains(name)) return argument(depth);
        if (name == u"quad"_s || name == u"qquad"_s) return u"  "_s;
        static const QStringList functions = {u"sin"_s, u"cos"_s, u"tan"_s, u"log"_s, u"ln"_s, u"exp"_s, u"lim"_s,
                                              u"max"_s, u"min"_s, u"arg"_s, u"det"_s, u"gcd"_s, u"mod"_s, u"sup"_s, u"inf"_s};
        if (functions.contains(name)) return name;
        const auto symbol = symbols().constFind(name);
        return symbol != symbols().constEnd() ? *symbol : u'\\' + name;
    }

    QStringView source_;
    qsizetype at_ = 0;
};

QString protectedFromMarkdown(const QString& text) {
    QString out;
    for (const QChar c : text) {
        if (u"\\`*_{}[]()#+-.!|<>~$&"_s.contains(c)) out += u'\\';
        out += c;
    }
    return out;
}

/// Where a $ formula that opens at `at` closes, or −1: no blank inside beside the marks, no digit behind, one paragraph.
qsizetype closingDollar(QStringView text, qsizetype at) {
    if (at + 1 >= text.size() || text[at + 1].isSpace()) return -1;
    for (qsizetype i = at + 1; i < text.size(); ++i) {
        if (text[i] == u'\n' && i + 1 < text.size() && text[i + 1] == u'\n') return -1;
        if (text[i] == u'\\') ++i;
        else if (text[i] == u'$')
            return text[i - 1].isSpace() || (i + 1 < text.size() && text[i + 1].isDigit()) ? -1 : i;
    }
    return -1;
}

}  // namespace

QString unicodeOf(QStringView formula) { return Formula(formula).all().simplified(); }

QString readableMaths(const QString& markdown) {
    if (!markdown.contains(u'$') && !markdown.contains(u"\\("_s) && !markdown.contains(u"\\["_s)) return markdown;
    const QStringView text = markdown;
    QString out;
    for (qsizetype i = 0; i < text.size();) {
        if (text[i] == u'`') {   // code, to the next run of as many ticks
            qsizetype ticks = i;
            while (ticks < text.size() && text[ticks] == u'`') ++ticks;
            const qsizetype end = text.indexOf(text.mid(i, ticks - i), ticks);
            const qsizetype to = end < 0 ? ticks : end + (ticks - i);
            out += text.mid(i, to - i);
            i = to;
            continue;
        }
        const QStringView here = text.mid(i);
        qsizetype open = 0, end = -1, close = 0;
        if (here.startsWith(u"\\("_s)) open = close = 2, end = text.indexOf(u"\\)"_s, i + 2);
        else if (here.startsWith(u"\\["_s)) open = close = 2, end = text.indexOf(u"\\]"_s, i + 2);
        else if (here.startsWith(u"$$"_s)) open = close = 2, end = text.indexOf(u"$$"_s, i + 2);
        else if (text[i] == u'$') open = close = 1, end = closingDollar(text, i);
        if (end > i + open) {
            out += protectedFromMarkdown(unicodeOf(text.mid(i + open, end - i - open)));
            i = end + close;
        } else if (text[i] == u'\\' && i + 1 < text.size()) {
            out += text.mid(i, 2);
            i += 2;
        } else {
            out += text[i++];
        }
    }
    return out;
}

}  // namespace hearth::ui
