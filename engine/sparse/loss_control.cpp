#include "engine/sparse/loss_control.h"

#include <algorithm>
#include <cmath>

namespace hearth::sparse {

void LossControl::add(size_t layer, float lost) {
    newest_[layer] = lost;
    ++checks_;
    if (!(budget_ > 0)) return;
    if (lost > budget_) dial_ += std::clamp(std::log2(lost / budget_), 0.5f, 2.0f);
    else if (this->lost() < budget_ / 2) dial_ = std::max(0.0f, dial_ - 0.05f);
}

float LossControl::lost() const {
    float sum = 0, count = 0;
    for (const float one : newest_)
        if (one >= 0) {
            sum += one;
            ++count;
        }
    return count > 0 ? sum / count : 0;
}

}  // namespace hearth::sparse
