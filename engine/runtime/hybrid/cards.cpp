#include "engine/runtime/hybrid/cards.h"

namespace hearth::runtime {

placement::Kind kindOf(const gpu::Found& card) {
    return card.name.starts_with("emulated") ? placement::Kind::emulated : placement::Kind::cuda;
}

std::vector<placement::Device> usableCards(const gpu::Discovery& found, const placement::DeviceFile* described) {
    std::vector<placement::Device> cards;
    for (const gpu::Found& one : found.devices) {
        if (!one.why_not.empty()) continue;
        placement::Device& card = cards.emplace_back();
        card.name = one.name;
        card.kind = kindOf(one);
        card.bytes_total = one.bytes_total;
        card.bytes_free = one.bytes_free;
        if (described != nullptr) described->giveSpeeds(card, one.description);
    }
    return cards;
}

}  // namespace hearth::runtime
