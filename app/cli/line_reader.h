#pragma once

#include <string>

namespace hearth::cli {

/// Lines of standard input, one at a time, and Ctrl-C while waiting for one.
class LineReader {
public:
    enum class Event { line, interrupt, end };
    /// Waits. A last line without an end counts as a line.
    Event next(std::string& line);

private:
    std::string buffer_;
    bool ended_ = false;
};

}  // namespace hearth::cli
