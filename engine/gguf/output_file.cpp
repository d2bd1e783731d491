#include "engine/gguf/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "engine/base/error.h"

namespace hearth::gguf {
namespace {

std::string gib(uint64_t bytes) {
    char text[48];
    if (bytes < uint64_t{1} << 30) {
        std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
    } else {
        std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
    }
    return text;
}

/// False when another program finished and renamed the file between our open and our lock.
bool isStillNamed(int descriptor, const std::filesystem::path& path) {
    struct stat opened{}, named{};
    return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, uint64_t bytes) : path_(path), partial_(path) {
    partial_ += ".part";
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored)) {
        throw Error("cannot write " + path_.string(), "a folder of this name is there", "Choose another name");
    }
    // Not O_TRUNC: another program's half-written file stays whole until the lock says that nobody works on it.
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) fail(errno);
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || !isStillNamed(descriptor_, partial_)) {
        close(descriptor_);
        throw Error("cannot write " + path_.string(), "another program is writing it",
                    "Wait until it has finished, or choose another name");
    }
    try {
        if (ftruncate(descriptor_, 0) != 0) fail(errno);
        requireSpace(bytes);
    } catch (...) {
        std::filesystem::remove(partial_, ignored);
        close(descriptor_);
        throw;
    }
}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) return;
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
    close(descriptor_);
}

void OutputFile::fail(int code) const {
    const std::string what = "cannot write " + path_.string();
    switch (code) {
        case ENOENT: throw Error(what, "its folder does not exist", "Create the folder or choose another one");
        case ENOTDIR: throw Error(what, "a part of its path is a file, not a folder", "Choose another folder");
        case EACCES:
        case EPERM: throw Error(what, "you may not write into its folder", "Choose another folder");
        case EROFS: throw Error(what, "the drive is read-only", "Choose another drive");
        case ENOSPC:
        case EDQUOT: throw Error(what, "the drive is full", "Free some space or choose another drive");
        case EFBIG:
            throw Error(what, "the drive's file system does not take files of this size", "Choose another drive");
        case EFAULT:
            throw Error(what, "the data to write could not be read", "Check the drive that the source lies on");
        default: throw Error(what, std::strerror(code), "Check the drive");
    }
}

void OutputFile::requireSpace(uint64_t bytes) const {
    std::error_code failed;
    const auto space = std::filesystem::space(std::filesystem::absolute(partial_).parent_path(), failed);
    if (failed || space.available >= bytes) return;   // where the system cannot say, writing finds out
    throw Error("cannot write " + path_.string(),
                "it needs " + gib(bytes) + ", but only " + gib(space.available) + " are free on its drive",
                "Free some space or choose another drive");
}

void OutputFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(errno);
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
}

void OutputFile::commit() {
    if (fsync(descriptor_) != 0) fail(errno);
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail(errno);
    close(descriptor_);
    descriptor_ = -1;
}

}  // namespace hearth::gguf
