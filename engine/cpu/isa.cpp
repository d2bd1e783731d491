#include "engine/cpu/isa.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/kernels.h"

namespace hearth::cpu {
#define HEARTH_TABLES(level)                 \
    namespace level {                        \
    extern const Ops ops_table;              \
    extern const Products products_table;    \
    }
HEARTH_TABLES(generic)
#if defined(__x86_64__)
HEARTH_TABLES(avx2)
HEARTH_TABLES(avxvnni)
HEARTH_TABLES(avx512)
#endif
#undef HEARTH_TABLES

namespace {

constexpr Isa kAll[] = {Isa::generic, Isa::avx2, Isa::avxvnni, Isa::avx512};

/// What processor and operating system run: the compiler's run-time asks both.
bool runs(Isa isa) {
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    switch (isa) {
        case Isa::generic: return true;
        case Isa::avx2: return avx2;
        case Isa::avxvnni: return avx2 && __builtin_cpu_supports("avxvnni");
        case Isa::avx512:
            return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
    }
#endif
    return isa == Isa::generic;
}

const std::vector<Isa>& detected() {
    static const std::vector<Isa> found = [] {
        std::vector<Isa> isas;
        std::ranges::copy_if(kAll, std::back_inserter(isas), runs);
        return isas;
    }();
    return found;
}

std::string availableNames() {
    std::string names;
    for (const Isa isa : detected()) names += (names.empty() ? "" : ", ") + std::string(isaName(isa));
    return names;
}

Isa resolve() {
    const char* asked = std::getenv("HEARTH_ISA");
    if (asked == nullptr || *asked == '\0') return detected().back();
    const std::string what = "cannot use the instruction-set level that HEARTH_ISA names, \"" + std::string(asked) + "\"";
    const auto named = std::ranges::find(kAll, std::string_view(asked), isaName);
    if (named == std::end(kAll))
        throw Error(what, "there is no such level", "choose one of " + availableNames() + ", or unset HEARTH_ISA");
    if (std::ranges::find(detected(), *named) == detected().end())
        throw Error(what, "this processor does not have it", "choose one of " + availableNames() + ", or unset HEARTH_ISA");
    return *named;
}

}  // namespace

std::string_view isaName(Isa isa) {
    switch (isa) {
        case Isa::avx2: return "avx2";
        case Isa::avxvnni: return "avxvnni";
        case Isa::avx512: return "avx512";
        case Isa::generic: break;
    }
    return "generic";
}

std::span<const Isa> availableIsas() { return detected(); }

Isa activeIsa() {
    static const Isa isa = resolve();
    return isa;
}

const Kernels& kernels(Isa isa) {
    static const Kernels tables[] = {
        {Isa::generic, &generic::ops_table, &generic::products_table},
#if defined(__x86_64__)
        {Isa::avx2, &avx2::ops_table, &avx2::products_table},
        {Isa::avxvnni, &avxvnni::ops_table, &avxvnni::products_table},
        {Isa::avx512, &avx512::ops_table, &avx512::products_table},
#endif
    };
    return tables[static_cast<size_t>(isa)];
}

const Kernels& activeKernels() {
    static const Kernels& table = kernels(activeIsa());
    return table;
}

}  // namespace hearth::cpu
