// Opens a mapped file, which installs the SIGBUS handler, and then meets a SIGBUS that is not the mapping's. Whatever
// stood before the handler must get it: the default (the program dies) or a handler of the program's own (exit code 42).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "engine/base/mapped_file.h"

int main(int count, char** arguments) {
    if (count != 4) return 2;
    const std::string_view mode = arguments[1];
    const rlimit no_core_dump{0, 0};
    setrlimit(RLIMIT_CORE, &no_core_dump);
    if (mode == "own-handler") std::signal(SIGBUS, [](int) { _exit(42); });

    const auto file = hearth::MappedFile::open(arguments[2]);
    if (mode == "sent") kill(getpid(), SIGBUS);

    const int other = open(arguments[3], O_RDWR);
    void* address = mmap(nullptr, 65536, PROT_READ, MAP_SHARED, other, 0);
    if (address == MAP_FAILED || ftruncate(other, 0) != 0) return 3;
    std::printf("%d\n", *static_cast<volatile char*>(address));
    return 0;  // not reached: the read above has nothing to read
}
