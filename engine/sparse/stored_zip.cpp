#include "engine/sparse/stored_zip.h"

#include <cstdint>
#include <cstring>

#include "engine/base/error.h"

namespace hearth::sparse {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;

[[noreturn]] void refuse(const char* why) { throw Error("cannot read this PyTorch file", why); }

template <typename T>
T number(std::span<const std::byte> bytes, size_t at) {
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) refuse("it is cut off");
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::span<const std::byte> part(std::span<const std::byte> bytes, uint64_t at, uint64_t n) {
    if (at > bytes.size() || n > bytes.size() - at) refuse("a part of it lies outside of it");
    return bytes.subspan(at, n);
}

/// Where the end record stands: the last place where one may and its comment reaches the end of the file.
size_t findEnd(std::span<const std::byte> zip) {
    if (zip.size() < kEndBytes) refuse("it is no zip archive");
    for (size_t comment = 0; comment <= std::min<size_t>(0xffff, zip.size() - kEndBytes); ++comment) {
        const size_t at = zip.size() - kEndBytes - comment;
        if (number<uint32_t>(zip, at) == kEnd && number<uint16_t>(zip, at + 20) == comment) return at;
    }
    refuse("it is no zip archive");
}

}  // namespace

std::optional<std::span<const std::byte>> storedEntry(std::span<const std::byte> zip, std::string_view name_end) {
    const size_t end = findEnd(zip);
    const uint16_t entries = number<uint16_t>(zip, end + 10);
    size_t at = number<uint32_t>(zip, end + 16);
    for (uint16_t e = 0; e < entries; ++e) {
        if (number<uint32_t>(zip, at) != kCentral) refuse("its directory is damaged");
        const auto flags = number<uint16_t>(zip, at + 8), method = number<uint16_t>(zip, at + 10);
        const auto packed = number<uint32_t>(zip, at + 20), size = number<uint32_t>(zip, at + 24);
        const size_t name_bytes = number<uint16_t>(zip, at + 28);
        const auto local = number<uint32_t>(zip, at + 42);
        const std::span<const std::byte> raw = part(zip, at + kCentralBytes, name_bytes);
        const std::string_view name(reinterpret_cast<const char*>(raw.data()), raw.size());
        at += kCentralBytes + name_bytes + number<uint16_t>(zip, at + 30) + number<uint16_t>(zip, at + 32);
        if (!name.ends_with(name_end)) continue;
        if (method != 0 || packed != size || (flags & 1) != 0) refuse("its entries are compressed or encrypted");
        if (size == 0xffffffff || local == 0xffffffff) refuse("it is of the 64-bit kind");
        if (number<uint32_t>(zip, local) != kLocal) refuse("its directory is damaged");
        const uint64_t begin = uint64_t{local} + kLocalBytes + number<uint16_t>(zip, local + 26) +
                               number<uint16_t>(zip, local + 28);
        return part(zip, begin, size);
    }
    return std::nullopt;
}

}  // namespace hearth::sparse
