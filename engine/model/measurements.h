#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth::model {

/// What one kind of operation took in all layers and passes since measuring began.
struct OperationTime {
    std::string_view name;
    uint64_t calls = 0;
    double seconds = 0;
    uint64_t bytes = 0;   ///< of weights, keys and values that it read, each once a call
};

/// What the forward pass did, counted where it is done. Counting the neurons costs nothing worth naming; times are
/// taken only on request. Not for several threads at once: the pass itself is driven by one.
class Measurements {
public:
    /// Neurons of layers that ran by neuron, for one token, and what was left out of them.
    struct Neurons {
        uint64_t all = 0;           ///< neurons of these layers
        uint64_t added = 0;         ///< those whose row of the down-projection was read
        uint64_t bytes_saved = 0;   ///< rows of gate, up and down that were not read
        uint64_t bytes_added = 0;   ///< of calibrated predictors, which the model's own bytes do not hold
    };

    void reset(bool timed) {
        timed_ = timed;
        operations_.clear();
        neurons = {};
    }
    /// In the order of their first use.
    const std::vector<OperationTime>& operations() const { return operations_; }

    Neurons neurons;

    /// Measures from here to the end of the scope; `name` is a literal. Scopes do not lie inside each other.
    class Scope {
    public:
        Scope(Measurements& measurements, std::string_view name)
            : measurements_(measurements.timed_ ? &measurements : nullptr), name_(name) {
            if (measurements_ == nullptr) return;
            measurements_->bytes_ = 0;
            begin_ = std::chrono::steady_clock::now();
        }
        ~Scope() {
            if (measurements_ == nullptr) return;
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
            measurements_->add(name_, time.count());
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        Measurements* measurements_;
        std::string_view name_;
        std::chrono::steady_clock::time_point begin_;
    };

    /// Bytes that the scope in force reads.
    void read(uint64_t bytes) { bytes_ += bytes; }

private:
    void add(std::string_view name, double seconds) {
        OperationTime* found = nullptr;
        for (OperationTime& operation : operations_)
            if (operation.name == name) found = &operation;
        if (found == nullptr) found = &operations_.emplace_back(OperationTime{name});
        ++found->calls;
        found->seconds += seconds;
        found->bytes += bytes_;
    }

    bool timed_ = false;
    uint64_t bytes_ = 0;
    std::vector<OperationTime> operations_;
};

}  // namespace hearth::model
