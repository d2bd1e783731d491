#include "engine/sparse/zero_counts.h"

#include <span>

#include "engine/base/error.h"

namespace hearth::sparse {

namespace {

const SidecarKind kKind{"zeros", 1};
constexpr const char *kActivation = "hearth.zeros.activation", *kZeros = "hearth.zeros.zeros", *kAll = "hearth.zeros.all";

std::vector<uint64_t> numbers(const gguf::File& file, const char* key) {
    const gguf::Value* value = file.value(key);
    std::vector<uint64_t> out;
    if (value == nullptr) return out;
    for (const int64_t n : value->integers()) {
        if (n < 0) return {};
        out.push_back(static_cast<uint64_t>(n));
    }
    return out;
}

bool areRight(const ZeroCounts& counts, size_t layers, uint32_t activation) {
    if (counts.activation != activation || counts.zeros.size() != layers || counts.all.size() != layers) return false;
    for (size_t i = 0; i < layers; ++i)
        if (counts.zeros[i] > counts.all[i]) return false;
    return true;
}

}  // namespace

std::optional<ZeroCounts> ZeroCounts::open(const std::string& identity, const Sidecars& sidecars, size_t layers,
                                           uint32_t activation) {
    const auto file = sidecars.open(identity, kKind);
    if (!file) return {};
    ZeroCounts counts;
    try {
        counts = {static_cast<uint32_t>(file->integer(kActivation).value_or(-1)), numbers(*file, kZeros), numbers(*file, kAll)};
    } catch (const Error&) {   // values of another kind
        counts = {};
    }
    if (areRight(counts, layers, activation)) return counts;
    sidecars.remove(identity, kKind);
    return {};
}

void ZeroCounts::write(const std::string& identity, const Sidecars& sidecars) const {
    gguf::Writer writer;
    writer.set(kActivation, activation);
    writer.setArray<uint64_t>(kZeros, zeros);
    writer.setArray<uint64_t>(kAll, all);
    sidecars.write(identity, kKind, writer);
}

}  // namespace hearth::sparse
