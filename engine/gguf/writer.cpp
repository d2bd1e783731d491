#include "engine/gguf/writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/error.h"
#include "engine/gguf/limits.h"
#include "engine/gguf/output_file.h"

namespace hearth::gguf {
namespace {

[[noreturn]] void refuse(std::string why) { throw Error("cannot write a GGUF file", std::move(why)); }

void appendBytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
    const size_t size = out.size();
    out.resize(size + bytes.size());
    if (!bytes.empty()) std::memcpy(out.data() + size, bytes.data(), bytes.size());
}

template <typename T>
void append(std::vector<std::byte>& out, T value) {
    appendBytes(out, std::as_bytes(std::span(&value, 1)));
}

void appendText(std::vector<std::byte>& out, std::string_view text) {
    append(out, static_cast<uint64_t>(text.size()));
    appendBytes(out, std::as_bytes(std::span(text)));
}

uint64_t padded(uint64_t bytes, uint64_t alignment) {
    const auto sum = checkedAlign(bytes, alignment);
    if (!sum) refuse("its size does not fit in 64 bits");
    return *sum;
}

uint64_t tensorBytes(const std::string& name, Type type, std::span<const uint64_t> ne) {
    uint64_t bytes = rowBytes(type, ne.empty() ? 1 : ne[0]);
    for (size_t d = 1; d < ne.size(); ++d) {
        const auto product = checkedMul(bytes, ne[d]);
        if (!product) refuse("the tensor " + shownName(name) + " is too large");
        bytes = *product;
    }
    if (bytes == 0) refuse("the tensor " + shownName(name) + " has a dimension of 0");
    if (bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        refuse("the tensor " + shownName(name) + " is too large");
    return bytes;
}

}  // namespace

Writer::Writer(uint64_t alignment, bool power_infer) : alignment_(alignment), power_infer_(power_infer) {
    if (!std::has_single_bit(alignment) || alignment < min_alignment || alignment > max_alignment) {
        refuse("an alignment of " + std::to_string(alignment) + " is not a power of two from 8 to 1048576");
    }
    if (alignment != default_alignment) set("general.alignment", static_cast<uint32_t>(alignment));
}

void Writer::put(Entry entry) {
    if (const std::string problem = keyProblem(entry.key); !problem.empty())
        refuse("the key " + shownName(entry.key) + " " + problem);
    const bool is_alignment = entry.key == "general.alignment";
    if (is_alignment && (entry.type != ValueType::U32 || std::memcmp(entry.bytes.data(), &alignment_, 4) != 0)) {
        refuse("the key general.alignment must name the alignment that the writer was made with");
    }
    const auto [position, added] = entry_index_.try_emplace(entry.key, entries_.size());
    if (added) {
        entries_.push_back(std::move(entry));
    } else {
        entries_[position->second] = std::move(entry);
    }
}

void Writer::setRaw(std::string_view key, ValueType type, std::span<const std::byte> bytes) {
    put({std::string(key), type, type, {bytes.begin(), bytes.end()}});
}

void Writer::setRawArray(std::string_view key, ValueType element, uint64_t count, std::span<const std::byte> elements) {
    Entry entry{std::string(key), ValueType::Array, element, {}};
    entry.bytes.reserve(elements.size() + 12);
    append(entry.bytes, static_cast<int32_t>(element));
    append(entry.bytes, count);
    appendBytes(entry.bytes, elements);
    put(std::move(entry));
}

void Writer::set(std::string_view key, std::string_view text) {
    if (text.size() > max_string_bytes) refuse("the text of the key " + shownName(key) + " is longer than 16 MiB");
    Entry entry{std::string(key), ValueType::String, ValueType::String, {}};
    appendText(entry.bytes, text);
    put(std::move(entry));
}

template <typename Text>
void Writer::setTexts(std::string_view key, std::span<const Text> texts) {
    std::vector<std::byte> elements;
    for (const std::string_view text : texts) {
        if (text.size() > max_string_bytes) refuse("a text of the key " + shownName(key) + " is longer than 16 MiB");
        appendText(elements, text);
    }
    setRawArray(key, ValueType::String, texts.size(), elements);
}

void Writer::setArray(std::string_view key, std::span<const std::string> texts) { setTexts(key, texts); }
void Writer::setArray(std::string_view key, std::span<const std::string_view> texts) { setTexts(key, texts); }

void Writer::copy(std::string_view key, const Value& value) {
    if (value.isArray()) {
        setRawArray(key, value.elementType(), value.count(), value.raw());
    } else if (value.type() == ValueType::String) {
        set(key, value.string());
    } else {
        setRaw(key, value.type(), value.raw());
    }
}

void Writer::copyValues(const File& from) {
    for (const auto& [key, value] : from.values()) {
        if (!key.starts_with("split.") && key != "general.alignment") copy(key, value);
    }
}

void Writer::remove(std::string_view key) {
    const auto found = entry_index_.find(std::string(key));
    if (found == entry_index_.end()) return;
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(found->second));
    entry_index_.clear();
    for (size_t i = 0; i < entries_.size(); ++i) entry_index_.emplace(entries_[i].key, i);
}

bool Writer::contains(std::string_view key) const { return entry_index_.contains(std::string(key)); }

void Writer::addTensor(std::string name, Type type, std::span<const uint64_t> ne, Source source) {
    if (const std::string problem = tensorNameProblem(name); !problem.empty()) {
        refuse("the name of the tensor " + shownName(name) + " " + problem);
    }
    if (ne.size() > max_dims) refuse("the tensor " + shownName(name) + " has more than 4 dimensions");
    const uint64_t bytes = tensorBytes(name, type, ne);
    const auto end = checkedAdd(data_bytes_, padded(bytes, alignment_));
    if (!end) refuse("its tensors together are too large");
    if (!tensor_index_.try_emplace(name, tensors_.size()).second)
        refuse("the tensor " + shownName(name) + " was added twice");

    std::vector<uint64_t> shape(ne.begin(), ne.end());
    while (shape.size() > 1 && shape.back() == 1) shape.pop_back();
    if (shape.empty()) shape.push_back(1);
    tensors_.push_back({std::move(name), type, std::move(shape), bytes, data_bytes_, std::move(source)});
    data_bytes_ = *end;
}

void Writer::addTensor(std::string name, Type type, std::span<const uint64_t> ne, std::span<const std::byte> data) {
    if (tensorBytes(name, type, ne) != data.size()) {
        refuse("the tensor " + shownName(name) + " comes with " + std::to_string(data.size()) + " bytes, not the " +
               std::to_string(tensorBytes(name, type, ne)) + " of its type and shape");
    }
    addTensor(std::move(name), type, ne, [data](const Sink& sink) { sink(data); });
}

std::vector<std::byte> Writer::header() const {
    std::vector<std::byte> out;
    appendBytes(out, std::as_bytes(std::span(power_infer_ ? "PWRI" : "GGUF", 4)));
    append(out, newest_version);
    append(out, static_cast<uint64_t>(tensors_.size()));
    append(out, static_cast<uint64_t>(entries_.size()));
    for (const Entry& entry : entries_) {
        appendText(out, entry.key);
        append(out, static_cast<int32_t>(entry.type));
        appendBytes(out, entry.bytes);
    }
    for (const NewTensor& tensor : tensors_) {
        appendText(out, tensor.name);
        append(out, static_cast<uint32_t>(tensor.ne.size()));
        for (const uint64_t n : tensor.ne) append(out, n);
        append(out, static_cast<int32_t>(tensor.type));
        append(out, tensor.offset);
    }
    if (!tensors_.empty()) out.resize(padded(out.size(), alignment_));
    return out;
}

uint64_t Writer::fileBytes() const {
    const auto sum = checkedAdd(header().size(), data_bytes_);
    if (!sum) refuse("its size does not fit in 64 bits");
    return *sum;
}

void Writer::write(const std::filesystem::path& path, std::stop_token stop, const Progress& progress) const {
    constexpr size_t piece = size_t{4} << 20;   // small enough to answer a stop request in time on a slow drive
    const std::vector<std::byte> start = header();
    const uint64_t total = fileBytes();
    uint64_t done = 0;
    OutputFile file(path, total);
    const auto put = [&](std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            throwIfStopped(stop);
            const auto part = bytes.first(std::min(piece, bytes.size()));
            file.write(part);
            bytes = bytes.subspan(part.size());
            done += part.size();
            if (progress) progress(done, total);
        }
    };

    put(start);
    for (const NewTensor& tensor : tensors_) {
        throwIfStopped(stop);
        uint64_t missing = tensor.bytes;
        tensor.source([&](std::span<const std::byte> bytes) {
            if (bytes.size() > missing)
                refuse("the tensor " + shownName(tensor.name) + " gave more bytes than its type and shape say");
            put(bytes);
            missing -= bytes.size();
        });
        if (missing != 0)
            refuse("the tensor " + shownName(tensor.name) + " gave too few bytes: " + std::to_string(missing) +
                   " are missing");
        put(std::vector<std::byte>(padded(tensor.bytes, alignment_) - tensor.bytes));
    }
    throwIfStopped(stop);
    file.commit();
}

}  // namespace hearth::gguf
