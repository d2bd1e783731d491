#pragma once

#include <span>
#include <vector>

#include "engine/base/matrix.h"
#include "engine/model/description.h"

namespace hearth::model {

/// Cosines and sines of rope for the positions of a batch, computed in double precision.
class RopeTable {
public:
    RopeTable() = default;
    /// `factors` [n_rot/2] divide the angles; nullptr = none.
    RopeTable(const RopeShape& shape, const float* factors);

    /// Fills the rows of all positions.
    void fill(std::span<const uint32_t> positions);
    const float* cosines(size_t row) const { return cosines_.row(row); }
    const float* sines(size_t row) const { return sines_.row(row); }
    uint32_t rotated() const { return static_cast<uint32_t>(2 * speed_.size()); }

private:
    std::vector<double> speed_;   // [n_rot/2] angle of one position
    double magnitude_ = 1;
    Matrix<float> cosines_, sines_;
};

}  // namespace hearth::model
