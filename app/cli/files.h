#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// A whole file, possibly empty. Throws Error: missing, a directory, not readable.
std::string readFile(const std::filesystem::path& path);
/// The file that is named, or, where none is, the text that comes with Hearth for models to read (resources/calibration).
std::string readTextToLearnFrom(const std::string& named);
/// All of standard input.
std::string readStandardInput();
/// Ids separated by commas or white space. Throws Error naming the first that is none.
std::vector<int32_t> parseTokens(std::string_view text);
/// Lines without their ends; the last one needs none.
std::vector<std::string> splitLines(std::string_view text);

/// A file being written; removed again unless finish() is called. Throws Error when the disk says no.
class OutputFile {
public:
    explicit OutputFile(std::filesystem::path path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void finish();

private:
    [[noreturn]] void fail() const;
    std::filesystem::path path_;
    int descriptor_ = -1;
    bool regular_ = false;
};

}  // namespace hearth::cli
