#include <algorithm>
#include <bit>
#include <string>

#include "engine/base/checked.h"
#include "engine/base/error.h"
#include "engine/gguf/limits.h"
#include "engine/gguf/reader.h"

namespace hearth::gguf {
namespace {

std::string counted(uint64_t n, std::string_view noun) { return std::to_string(n) + " " + std::string(noun); }

}  // namespace

const Value* Shard::value(std::string_view key) const {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& entry) { return entry.first == key; });
    return found == values.end() ? nullptr : &found->second;
}

Reader::Reader(std::string what, std::span<const std::byte> header, uint64_t file_size)
    : what_(std::move(what)),
      header_(header.first(static_cast<size_t>(std::min<uint64_t>(header.size(), file_size)))),
      file_size_(file_size) {}

void Reader::fail(std::string why, std::string next_step) const {
    throw Error(what_, std::move(why), std::move(next_step));
}

void Reader::failDamaged(std::string why) const {
    fail(std::move(why), "The file is damaged; download or copy it again");
}

void Reader::failEnd(const std::string& where) const {
    if (header_.size() < file_size_) {
        throw HeaderTooShort(what_, "the first " + counted(header_.size(), "bytes") + " end inside " + where,
                             "Read more of the file");
    }
    fail("the file is truncated: it ends after " + counted(file_size_, "bytes") + ", inside " + where,
         "The download is not complete; download or copy it again");
}

std::span<const std::byte> Reader::take(uint64_t n, const std::string& where) {
    if (n > header_.size() - position_) failEnd(where);
    const auto bytes = header_.subspan(static_cast<size_t>(position_), static_cast<size_t>(n));
    position_ += n;
    return bytes;
}

std::string_view Reader::text(uint64_t cap, const std::string& where) {
    const auto length = number<uint64_t>(where);
    if (length > cap)
        failDamaged(where + " has a length of " + counted(length, "bytes") + "; at most " + std::to_string(cap) +
                    " are allowed");
    const auto bytes = take(length, where);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Shard Reader::read() {
    Shard shard;
    readMagic(shard);
    // The smallest key: length, one letter, type, one byte. The smallest tensor: length, one letter, dimensions, type, offset.
    const uint64_t n_tensors = readCount("tensors", 8 + 1 + 4 + 4 + 8);
    const uint64_t n_values = readCount("keys", 8 + 1 + 4 + 1);
    readValues(shard, n_values);
    readAlignment(shard);
    readTensors(shard, n_tensors);
    placeData(shard);
    refuseOldExperts(shard);
    return shard;
}

void Reader::readMagic(Shard& shard) {
    if (file_size_ == 0) fail("the file is empty", "Download or copy it again");
    if (header_.size() < 4) failEnd("its first four letters");
    const std::string_view magic(reinterpret_cast<const char*>(take(4, "the magic").data()), 4);
    if (magic != "GGUF" && magic != "PWRI") {
        auto [why, next_step] = describeForeign(header_);
        fail(std::move(why), std::move(next_step));
    }
    shard.power_infer = magic == "PWRI";
    shard.version = number<uint32_t>("the format version");
    if (shard.version == 0) failDamaged("it names format version 0, which does not exist");
    if ((shard.version & 0xffffu) == 0) {
        fail("it is a big-endian file, made for another kind of processor",
             "Choose the little-endian file of this model");
    }
    if (shard.version == 1) {
        fail("it is in version 1 of the GGUF format, used for some weeks in August 2023",
             "Download a newer file of this model");
    }
    if (shard.version > newest_version) {
        fail("it is in version " + std::to_string(shard.version) +
                 " of the GGUF format; this program knows versions 2 and 3",
             "Look for a newer version of Hearth, or download the file again if it may be damaged");
    }
}

uint64_t Reader::readCount(const char* of_what, uint64_t least_bytes_each) {
    const auto n = number<uint64_t>(std::string("the number of ") + of_what);
    if (n > left() / least_bytes_each) {
        failDamaged("its header announces " + counted(n, of_what) + ", but only " + counted(left(), "bytes") +
                    " follow: the file is truncated or damaged");
    }
    if (n > max_entries)
        failDamaged("its header announces " + counted(n, of_what) + "; at most " + std::to_string(max_entries) +
                    " are allowed");
    return n;
}

void Reader::readValues(Shard& shard, uint64_t n) {
    std::unordered_set<std::string_view> seen;
    for (uint64_t i = 0; i < n; ++i) {
        const std::string_view key = text(max_key_bytes, "the name of key " + std::to_string(i + 1));
        if (const std::string problem = keyProblem(key); !problem.empty()) {
            failDamaged("the name of key " + std::to_string(i + 1) + " " + problem);
        }
        if (!seen.insert(key).second) failDamaged("the key " + shownName(key) + " stands in it twice");
        shard.values.emplace_back(key, readValue(key));
    }
}

Value Reader::readValue(std::string_view key) {
    const std::string where = "the key " + shownName(key);
    Value value;
    value.key_ = key;
    const auto id = number<int32_t>(where);
    if (!isValueType(id)) failDamaged(where + " has a value of unknown type " + std::to_string(id));
    value.type_ = value.element_ = static_cast<ValueType>(id);
    if (value.type_ == ValueType::Array) {
        readArray(value, where);
    } else if (value.type_ == ValueType::String) {
        value.raw_ = std::as_bytes(std::span(text(max_string_bytes, where)));
    } else {
        value.raw_ = take(valueBytes(value.type_), where);
    }
    if (value.element_ == ValueType::Bool) checkBooleans(value, where);
    return value;
}

void Reader::readArray(Value& value, const std::string& where) {
    const auto id = number<int32_t>(where);
    if (!isValueType(id)) failDamaged(where + " is a list of unknown type " + std::to_string(id));
    value.element_ = static_cast<ValueType>(id);
    if (value.element_ == ValueType::Array)
        fail(where + " is a list of lists, which no model needs", "Choose another file of this model");
    value.count_ = number<uint64_t>(where);
    const bool strings = value.element_ == ValueType::String;
    const uint64_t least = strings ? 8 : valueBytes(value.element_);
    if (value.count_ > left() / least) {
        failDamaged(where + " announces a list of " + std::to_string(value.count_) + ", but only " +
                    counted(left(), "bytes") + " follow: the file is truncated or damaged");
    }
    if (!strings) {
        value.raw_ = take(value.count_ * least, where);
        return;
    }
    const uint64_t begin = position_;
    for (uint64_t i = 0; i < value.count_; ++i) text(max_string_bytes, where);
    value.raw_ = header_.subspan(static_cast<size_t>(begin), static_cast<size_t>(position_ - begin));
}

void Reader::checkBooleans(const Value& value, const std::string& where) const {
    const bool valid = std::all_of(value.raw_.begin(), value.raw_.end(), [](std::byte b) { return b <= std::byte{1}; });
    if (!valid) failDamaged(where + " is neither true nor false: its byte is not 0 or 1");
}

void Reader::readAlignment(Shard& shard) const {
    shard.alignment = default_alignment;
    const Value* value = shard.value("general.alignment");
    if (!value) return;
    if (value->type() != ValueType::U32) {
        failDamaged("the key \"general.alignment\" is of type " + typeName(value->type()) + ", not u32");
    }
    shard.alignment = static_cast<uint64_t>(value->integer());
    if (!std::has_single_bit(shard.alignment) || shard.alignment < min_alignment || shard.alignment > max_alignment) {
        failDamaged("its alignment (the key \"general.alignment\") is " + std::to_string(shard.alignment) +
                    ", not a power of two from 8 to 1048576");
    }
}

}  // namespace hearth::gguf
