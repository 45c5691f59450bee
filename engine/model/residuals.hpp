// Residuals: the part of an objective that is a sum over numbers which should be 0, and what
// identification (engine/sim/identification) needs to know of them.
//
//     value of the term = sum over residuals of rho(r) / 2
//
// with r in units of its standard deviation, so that it is the negative logarithm of a likelihood, but
// for a constant.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "engine/optim/robust_loss.hpp"

namespace hindcast::model {

// The residuals of one term.
struct ResidualBlock {
    // Residuals of one kind: numbers `first` to `first + count` of the array.
    struct Channel {
        std::string name;  // "position"
        std::int64_t first = 0, count = 0;
    };
    std::string owner;      // the scene's object, and the term
    std::string file = {};  // that it compares with, as the scene names it; "" if with none
    double weight = 1;      // of the term
    optim::Loss loss = optim::Loss::squared;
    const Quantity* width = nullptr;  // of the loss, unless it is squared
    std::vector<Channel> channels;
    std::vector<double> times;     // s in the scene, one for each residual
    std::vector<double> measured;  // as the file has them; empty without a file
    Array values;                  // {residuals, 1}, once the steps were run
    // One number for each channel, or one for all: r = (simulated - (scale measured + offset)) /
    // sigma. Without a file there is only sigma.
    const Quantity *sigma = nullptr, *scale = nullptr, *offset = nullptr;

    optim::RobustLoss robust() const { return {loss, width == nullptr ? 1.0 : width->values[0]}; }
    static double of(const Quantity* numbers, std::size_t channel, double otherwise) {
        return numbers == nullptr ? otherwise : numbers->values[numbers->shared ? 0 : channel];
    }
};

// In Model::shared().
struct Residuals {
    std::vector<ResidualBlock> blocks;
    // Quantities that say something of one recording and not of what was recorded, such as the
    // states at the starts of shots: another recording has its own.
    std::set<std::string> of_one_recording;
};

}  // namespace hindcast::model
