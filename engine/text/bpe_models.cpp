/// Byte-level BPE and Gemma 4's BPE on characters: merges by the ranks that the file lists.
#include <array>
#include <deque>
#include <string>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/text/bpe.h"
#include "engine/text/bpe_bytes.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer_model.h"
#include "engine/text/tokenizer_tables.h"
#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

/// Longer lines are no merges of a real vocabulary (strings of a file may have 16 MiB).
constexpr size_t kLongestMerge = 1 << 20;

/// The symbols of a vocabulary: its ordinary tokens, and texts that only merges name.
class Symbols {
public:
    Symbols(const Vocabulary& v, const std::stop_token& stop) : table_(v.size()), next_(static_cast<Symbol>(v.size())) {
        for (size_t i = 0; i < v.size(); ++i) {
            throwIfStopped(stop);
            const Token t = static_cast<Token>(i);
            if (isOrdinary(v, t)) table_.add(v.pieceBytes(t), static_cast<uint32_t>(i));
        }
    }
    Symbol find(std::string_view text) const { return table_.find(text); }
    Symbol findOrAdd(std::string_view text, uint32_t hash) {
        if (const Symbol s = table_.find(text, hash); s != kNoSymbol) return s;
        return table_.add(extra_.emplace_back(text), next_++);
    }
    const TextTable& table() const { return table_; }

private:
    TextTable table_;
    std::deque<std::string> extra_;   ///< texts of the symbols that are no tokens; a deque never moves them
    Symbol next_;
};

/// One line of the list of merges: the bytes of both sides, one after another, in a block's text.
struct MergeLine {
    uint32_t rank, begin, middle, end;
    std::array<uint32_t, 3> hashes{};   ///< of left, right, both
    Symbol left = kNoSymbol, right = kNoSymbol, both = kNoSymbol;
};

/// Looks up a block of lines. The tables are larger than the caches: what all lines want is asked for before any waits.
void addMerges(std::vector<MergeLine>& lines, std::string_view text, Symbols& symbols, MergeTable& table) {
    const auto part = [text](uint32_t from, uint32_t to) { return text.substr(from, to - from); };
    for (MergeLine& m : lines) {
        m.hashes = {TextTable::hashOf(part(m.begin, m.middle)), TextTable::hashOf(part(m.middle, m.end)),
                    TextTable::hashOf(part(m.begin, m.end))};
        for (uint32_t hash : m.hashes) symbols.table().prefetch(hash);
    }
    for (const MergeLine& m : lines) {
        for (uint32_t hash : m.hashes) symbols.table().prefetchText(hash);
    }
    for (MergeLine& m : lines) {
        m.left = symbols.findOrAdd(part(m.begin, m.middle), m.hashes[0]);
        m.right = symbols.findOrAdd(part(m.middle, m.end), m.hashes[1]);
        m.both = symbols.findOrAdd(part(m.begin, m.end), m.hashes[2]);
        table.prefetch(m.left, m.right);
    }
    for (const MergeLine& m : lines) table.add(m.left, m.right, {m.rank, m.both});
}

/// Reads "A B" lists into a table of merges. `append` turns the file's spelling into bytes.
template <typename Append>
MergeTable readMerges(const Vocabulary& v, Symbols& symbols, const std::stop_token& stop, Append append) {
    const std::vector<std::string_view> lines = v.merges();
    MergeTable table(lines.size());
    constexpr size_t kBlock = 32;
    std::string text;
    std::vector<MergeLine> block;
    for (size_t rank = 0; rank < lines.size(); ++rank) {
        const std::string_view line = lines[rank];
        const size_t space = line.find(' ', 1);
        if (space == std::string_view::npos || space + 1 == line.size() || line.size() > kLongestMerge) continue;
        const auto begin = static_cast<uint32_t>(text.size());
        append(text, line.substr(0, space));
        const auto middle = static_cast<uint32_t>(text.size());
        append(text, line.substr(space + 1));
        block.push_back({static_cast<uint32_t>(rank), begin, middle, static_cast<uint32_t>(text.size())});
        if (block.size() < kBlock) continue;
        throwIfStopped(stop);
        addMerges(block, text, symbols, table);
        block.clear();
        text.clear();
    }
    addMerges(block, text, symbols, table);
    return table;
}

/// What merging left: tokens, and the tokens that `byteToken` has for the bytes of what is none (kNoToken: they vanish).
template <typename ByteToken>
void emit(const std::vector<Part>& parts, std::string_view piece, Symbol vocabulary_size, const ByteToken& byteToken,
          std::vector<Token>& out) {
    for (const Part& part : parts) {
        if (part.symbol < vocabulary_size) {
            out.push_back(static_cast<Token>(part.symbol));
            continue;
        }
        for (char c : piece.substr(part.begin, part.length)) {
            if (const Token t = byteToken(static_cast<unsigned char>(c)); t != kNoToken) out.push_back(t);
        }
    }
}

class BpeModel : public TokenizerModel {
public:
    BpeModel(const Vocabulary& v, const std::stop_token& stop)
        : size_(static_cast<Symbol>(v.size())),
          pre_(v.pre()),
          symbols_(v, stop),
          merges_(readMerges(v, symbols_, stop, [](std::string& out, std::string_view s) { appendByteLevel(out, s); })),
          whole_pieces_(PreTokenizer::traits(v.pre()).ignore_merges) {
        for (unsigned b = 0; b < 256; ++b) {
            const char c = static_cast<char>(b);
            bytes_[b] = symbols_.find(std::string_view(&c, 1));
        }
    }

    void encode(const Stretch& stretch, std::vector<Token>& out) const override {
        std::string fixed;
        std::string_view text = stretch.text;
        if (!isWellFormed(text)) text = fixed = replaceIllFormed(text);
        Merger merger;
        std::vector<Part> parts;
        // Words come again and again; what a short piece became once is looked up.
        std::unordered_map<std::string_view, std::pair<size_t, size_t>> seen;
        for (std::string_view piece : pre_.split(text)) {
            const bool remember = piece.size() <= 32;
            if (remember) {
                const auto [found, is_new] = seen.try_emplace(piece, out.size(), 0);
                if (!is_new) {
                    for (size_t i = 0; i < found->second.second; ++i) out.push_back(out[found->second.first + i]);
                    continue;
                }
            }
            const size_t before = out.size();
            encodePiece(piece, merger, parts, out);
            if (remember) seen[piece].second = out.size() - before;
        }
    }

private:
    void encodePiece(std::string_view piece, Merger& merger, std::vector<Part>& parts, std::vector<Token>& out) const {
        if (whole_pieces_) {
            if (const Symbol s = symbols_.find(piece); s < size_) {
                out.push_back(static_cast<Token>(s));
                return;
            }
        }
        parts.clear();
        for (size_t i = 0; i < piece.size(); ++i)
            parts.push_back({bytes_[static_cast<unsigned char>(piece[i])], static_cast<uint32_t>(i), 1});
        merger.run(merges_, parts);
        // Falcon, for one, has no tokens for some control characters.
        const auto byte = [this](unsigned char c) {
            return bytes_[c] < size_ ? static_cast<Token>(bytes_[c]) : kNoToken;
        };
        emit(parts, piece, size_, byte, out);
    }

    Symbol size_;
    PreTokenizer pre_;
    Symbols symbols_;
    MergeTable merges_;
    std::array<Symbol, 256> bytes_{};
    bool whole_pieces_;
};

class Gemma4Model : public TokenizerModel {
public:
    Gemma4Model(const Vocabulary& v, const std::stop_token& stop)
        : vocabulary_(v),
          size_(static_cast<Symbol>(v.size())),
          symbols_(v, stop),
          merges_(readMerges(v, symbols_, stop,
                             [](std::string& out, std::string_view s) { out += replaceAll(s, kLowerBlock, " "); })) {}

    void encode(const Stretch& stretch, std::vector<Token>& out) const override {
        const std::string folded = replaceAll(stretch.text, kLowerBlock, " ");
        const std::string_view text = folded;
        Merger merger;
        std::vector<Part> parts;
        for (size_t at = 0; at < text.size();) {
            const bool newline = text[at] == '\n';
            const size_t end = std::min(newline ? text.find_first_not_of('\n', at) : text.find('\n', at), text.size());
            encodePiece(text.substr(at, end - at), merger, parts, out);
            at = end;
        }
    }

private:
    void encodePiece(std::string_view piece, Merger& merger, std::vector<Part>& parts, std::vector<Token>& out) const {
        parts.clear();
        for (size_t at = 0; at < piece.size();) {
            const size_t n = std::max<size_t>(sequenceLength(piece.substr(at)), 1);
            parts.push_back({symbols_.find(piece.substr(at, n)), static_cast<uint32_t>(at), static_cast<uint32_t>(n)});
            at += n;
        }
        merger.run(merges_, parts);
        const auto byte = [this](unsigned char c) {
            const Token t = vocabulary_.byteToken(c);
            return t != kNoToken ? t : vocabulary_.special().unk;
        };
        emit(parts, piece, size_, byte, out);
    }

    const Vocabulary& vocabulary_;
    Symbol size_;
    Symbols symbols_;
    MergeTable merges_;
};

}  // namespace

std::unique_ptr<const TokenizerModel> makeBpe(const Vocabulary& v, const std::stop_token& stop) {
    return std::make_unique<BpeModel>(v, stop);
}

std::unique_ptr<const TokenizerModel> makeGemma4(const Vocabulary& v, const std::stop_token& stop) {
    return std::make_unique<Gemma4Model>(v, stop);
}

}  // namespace hearth::text
