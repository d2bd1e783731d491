#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// What the user sees: the answer on standard output, everything else on standard error.
namespace hearth::cli {

bool inputIsTerminal();
bool outputIsTerminal();
bool errorIsTerminal();

/// Writes to standard output at once. Throws Error when nobody reads any more.
/// On a terminal, control characters of a model or a file are shown as U+FFFD: they could steer the terminal.
void print(std::string_view text);
/// Dims what follows on a terminal, or ends that.
void printDimmed(bool on);
/// A line on standard error.
void note(std::string_view sentence);

/// Text with control characters other than line ends and tabs replaced.
std::string withoutControls(std::string_view text);

/// One line on standard error that is written over; silent unless that is a terminal.
class Progress {
public:
    explicit Progress(std::string what) : what_(std::move(what)) {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// At most ten times a second something is written.
    void show(double share, std::string_view detail = {});
    void clear();

private:
    std::string what_;
    std::chrono::steady_clock::time_point last_ = {};
    bool shown_ = false;
};

}  // namespace hearth::cli
