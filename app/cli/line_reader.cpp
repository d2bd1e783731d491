#include "app/cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "app/cli/interrupt.h"
#include "engine/base/error.h"

namespace hearth::cli {

LineReader::Event LineReader::next(std::string& line) {
    while (true) {
        if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
            line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            if (line.ends_with('\r')) line.pop_back();
            return Event::line;
        }
        if (ended_) {
            line = std::exchange(buffer_, {});
            return line.empty() ? Event::end : Event::line;
        }
        pollfd waited[2] = {{STDIN_FILENO, POLLIN, 0}, {interruptDescriptor(), POLLIN, 0}};
        if (::poll(waited, 2, -1) < 0 && errno != EINTR)
            throw Error("cannot read the standard input", std::strerror(errno));
        if (takeInterrupt()) return Event::interrupt;
        if (waited[0].revents == 0) continue;
        char bytes[4096];
        const ssize_t n = ::read(STDIN_FILENO, bytes, sizeof bytes);
        if (n > 0) buffer_.append(bytes, static_cast<size_t>(n));
        else if (n == 0) ended_ = true;
        else if (errno != EINTR) throw Error("cannot read the standard input", std::strerror(errno));
    }
}

}  // namespace hearth::cli
