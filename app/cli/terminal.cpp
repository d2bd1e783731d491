#include "app/cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/base/error.h"

namespace hearth::cli {
namespace {

void write(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(descriptor, text.data(), text.size());
        if (n >= 0) {
            text.remove_prefix(static_cast<size_t>(n));
        } else if (errno != EINTR) {
            if (descriptor == STDERR_FILENO) return;
            throw Error("cannot write the answer", std::strerror(errno));
        }
    }
}

}  // namespace

bool inputIsTerminal() { return ::isatty(STDIN_FILENO) == 1; }
bool outputIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool errorIsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

std::string withoutControls(std::string_view text) {
    std::string shown;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
        const bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
        const bool c0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
        if (c0 || c1) shown += "\xef\xbf\xbd";
        else shown += text[i];
        if (c1) ++i;
    }
    return shown;
}

void print(std::string_view text) {
    static const bool terminal = outputIsTerminal();
    if (terminal) write(STDOUT_FILENO, withoutControls(text));
    else write(STDOUT_FILENO, text);
}

void printDimmed(bool on) {
    if (outputIsTerminal()) write(STDOUT_FILENO, on ? "\033[2m" : "\033[0m");
}

void note(std::string_view sentence) { write(STDERR_FILENO, withoutControls(sentence) + "\n"); }

void Progress::show(double share, std::string_view detail) {
    static const bool terminal = errorIsTerminal();
    const auto now = std::chrono::steady_clock::now();
    if (!terminal || (shown_ && now - last_ < std::chrono::milliseconds(100))) return;
    last_ = now;
    shown_ = true;
    char percent[16];
    std::snprintf(percent, sizeof percent, "%3.0f %%", 100 * share);
    write(STDERR_FILENO, "\r\033[K" + what_ + "  " + percent + "  " + withoutControls(detail));
}

void Progress::clear() {
    if (shown_) write(STDERR_FILENO, "\r\033[K");
    shown_ = false;
}

}  // namespace hearth::cli
