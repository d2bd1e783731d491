#include <bit>
#include <cstring>
#include <limits>

#include "engine/base/error.h"
#include "engine/gguf/file.h"
#include "engine/gguf/limits.h"

static_assert(std::endian::native == std::endian::little, "values are read as they stand in the file");

namespace hearth::gguf {
namespace {

template <typename T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

[[noreturn]] void failKind(std::string_view key, const Value& value, const std::string& wanted) {
    throw Error("cannot use the value of " + shownName(key),
                std::string("it is ") + (value.isArray() ? "a list of " : "of type ") + typeName(value.elementType()) +
                    ", not " + wanted,
                "The file was written wrongly; choose another file of this model");
}

}  // namespace

size_t valueBytes(ValueType type) noexcept {
    switch (type) {
        case ValueType::U8:
        case ValueType::I8:
        case ValueType::Bool: return 1;
        case ValueType::U16:
        case ValueType::I16: return 2;
        case ValueType::U32:
        case ValueType::I32:
        case ValueType::F32: return 4;
        case ValueType::U64:
        case ValueType::I64:
        case ValueType::F64: return 8;
        case ValueType::String:
        case ValueType::Array: return 0;
    }
    return 0;
}

std::string typeName(ValueType type) {
    static constexpr const char* names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                            "bool", "string", "array", "u64", "i64", "f64"};
    const auto id = static_cast<int32_t>(type);
    return isValueType(id) ? names[id] : "unknown type " + std::to_string(id);
}

bool isValueType(int32_t id) noexcept { return id >= 0 && id <= static_cast<int32_t>(ValueType::F64); }

bool hasControlCharacters(std::string_view text) noexcept {
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 || code == 0x7f) return true;
    }
    return false;
}

std::string shownName(std::string_view name) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : name.substr(0, 80)) {
        const auto code = static_cast<unsigned char>(c);
        if (code >= 0x20 && code < 0x7f) {
            out += c;
        } else {
            out += {'\\', 'x', digits[code >> 4], digits[code & 15]};
        }
    }
    return out + (name.size() > 80 ? "...\"" : "\"");
}

std::string keyProblem(std::string_view key) {
    if (key.empty()) return "is empty";
    if (key.size() > max_key_bytes) return "is longer than " + std::to_string(max_key_bytes) + " bytes";
    if (hasControlCharacters(key)) return "contains control characters";
    return {};
}

std::string tensorNameProblem(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() > max_tensor_name_bytes)
        return "is longer than " + std::to_string(max_tensor_name_bytes) + " bytes";
    if (hasControlCharacters(name)) return "contains control characters";
    return {};
}

int64_t Value::integer(uint64_t i) const {
    const size_t size = valueBytes(element_);
    if (i >= count_) failKind(key_, *this, "long enough: element " + std::to_string(i) + " was asked for");
    const std::byte* at = raw_.data() + i * size;
    switch (element_) {
        case ValueType::U8:
        case ValueType::Bool: return load<uint8_t>(at);
        case ValueType::I8: return load<int8_t>(at);
        case ValueType::U16: return load<uint16_t>(at);
        case ValueType::I16: return load<int16_t>(at);
        case ValueType::U32: return load<uint32_t>(at);
        case ValueType::I32: return load<int32_t>(at);
        case ValueType::I64: return load<int64_t>(at);
        case ValueType::U64: {
            const auto value = load<uint64_t>(at);
            if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) failKind(key_, *this, "below 2^63");
            return static_cast<int64_t>(value);
        }
        default: failKind(key_, *this, "a whole number");
    }
}

double Value::number(uint64_t i) const {
    if (i >= count_) failKind(key_, *this, "long enough: element " + std::to_string(i) + " was asked for");
    if (element_ == ValueType::F32) return load<float>(raw_.data() + i * 4);
    if (element_ == ValueType::F64) return load<double>(raw_.data() + i * 8);
    if (element_ == ValueType::U64) return static_cast<double>(load<uint64_t>(raw_.data() + i * 8));
    if (element_ == ValueType::Bool || element_ == ValueType::String) failKind(key_, *this, "a number");
    return static_cast<double>(integer(i));
}

bool Value::boolean(uint64_t i) const {
    if (element_ != ValueType::Bool) failKind(key_, *this, "yes or no (bool)");
    return integer(i) != 0;
}

std::string_view Value::string() const {
    if (type_ != ValueType::String) failKind(key_, *this, "a text (string)");
    return {reinterpret_cast<const char*>(raw_.data()), raw_.size()};
}

std::vector<std::string_view> Value::strings() const {
    if (element_ != ValueType::String) failKind(key_, *this, "a list of texts (strings)");
    if (!isArray()) return {string()};
    std::vector<std::string_view> out;
    out.reserve(count_);
    auto rest = raw_;
    for (uint64_t i = 0; i < count_; ++i) {
        // Checked when the file was opened, but another program may since have written to it.
        const uint64_t length = rest.size() >= 8 ? load<uint64_t>(rest.data()) : std::numeric_limits<uint64_t>::max();
        if (rest.size() < 8 || length > rest.size() - 8) {
            throw Error("cannot read the list " + shownName(key_), "the file was changed while it was in use",
                        "Load it again");
        }
        out.emplace_back(reinterpret_cast<const char*>(rest.data()) + 8, length);
        rest = rest.subspan(8 + length);
    }
    return out;
}

std::vector<int64_t> Value::integers() const {
    std::vector<int64_t> out(count_);
    for (uint64_t i = 0; i < count_; ++i) out[i] = integer(i);
    return out;
}

std::vector<double> Value::numbers() const {
    std::vector<double> out(count_);
    for (uint64_t i = 0; i < count_; ++i) out[i] = number(i);
    return out;
}

}  // namespace hearth::gguf
