#include "app/cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "app/data_folder.h"
#include "engine/base/error.h"

namespace hearth::cli {
namespace {

std::string readAll(int descriptor, const std::string& name) {
    std::string all;
    char buffer[1 << 16];
    while (true) {
        const ssize_t n = ::read(descriptor, buffer, sizeof buffer);
        if (n == 0) return all;
        if (n > 0) all.append(buffer, static_cast<size_t>(n));
        else if (errno != EINTR) throw Error("cannot read " + name, std::strerror(errno));
    }
}

/// Closes a descriptor whatever happens.
struct Descriptor {
    int number;
    ~Descriptor() { ::close(number); }
};

}  // namespace

std::string readFile(const std::filesystem::path& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.number < 0) throw Error("cannot open " + path.string(), std::strerror(errno));
    return readAll(file.number, path.string());
}

std::string readTextToLearnFrom(const std::string& named) {
    return readFile(named.empty() ? app::dataFile("calibration/text.txt") : std::filesystem::path(named));
}

std::string readStandardInput() { return readAll(STDIN_FILENO, "the standard input"); }

std::vector<int32_t> parseTokens(std::string_view text) {
    std::vector<int32_t> tokens;
    constexpr std::string_view separators = ", \t\r\n";
    for (size_t at = text.find_first_not_of(separators); at != std::string_view::npos;
         at = text.find_first_not_of(separators, at)) {
        const std::string_view word = text.substr(at, std::min(text.find_first_of(separators, at), text.size()) - at);
        int32_t id = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (error != std::errc() || end != word.data() + word.size())
            throw Error("cannot read the token ids", "\"" + std::string(word.substr(0, 40)) + "\" is no number",
                        "Write ids with commas, like 1,15043,3186");
        tokens.push_back(id);
        at += word.size();
    }
    return tokens;
}

std::vector<std::string> splitLines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.emplace_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail();
    struct stat about = {};
    regular_ = ::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode);
}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (regular_) ::unlink(path_.c_str());   // half a file would look like a whole one
}

void OutputFile::fail() const { throw Error("cannot write " + path_.string(), std::strerror(errno)); }

void OutputFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
        if (n >= 0) bytes = bytes.subspan(static_cast<size_t>(n));
        else if (errno != EINTR) fail();
    }
}

void OutputFile::finish() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (::close(descriptor) != 0) fail();
}

}  // namespace hearth::cli
