#include "engine/cpu/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/kernels.h"

namespace hearth::cpu {
namespace generic { extern const Ops ops_table; }
namespace {

constexpr Isa kAll[] = {Isa::generic, Isa::avx2, Isa::avxvnni, Isa::avx512};

const std::vector<Isa>& detected() {
    static const std::vector<Isa> found = [] {
        std::vector<Isa> isas{Isa::generic};
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

const Kernels& kernels(Isa) {
    static const Kernels table{Isa::generic, &generic::ops_table};
    return table;
}

const Kernels& activeKernels() {
    static const Kernels& table = kernels(activeIsa());
    return table;
}

}  // namespace hearth::cpu
