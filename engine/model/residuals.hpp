// Residuals: the part of an objective that is a sum over numbers which should be 0, and what
// identification (engine/sim/identification) needs to know of them.
//
//     value of the term = sum over residuals of rho(r) / 2,    r = (simulated - measured) / sigma
//
//     squared   rho(r) = r^2
//     huber     rho(r) = r^2 for |r| <= w, 2 w |r| - w^2 beyond (Huber 1964)
//     cauchy    rho(r) = w^2 log(1 + (r / w)^2)
//
// so that a term is the negative logarithm of a likelihood, but for a constant, and all rho agree
// where r is small.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::model {

enum class Loss { squared, huber, cauchy };

// rho(r), and its derivative by r^2: 1 for squares, less for residuals that count less.
struct RobustLoss {
    Loss loss = Loss::squared;
    double width = 1;  // w, in units of sigma

    double rho(double r) const {
        const double x = std::fabs(r) / width;
        if (loss == Loss::huber && x > 1) return width * width * (2 * x - 1);
        if (loss == Loss::cauchy) return width * width * std::log1p(x * x);
        return r * r;
    }
    double weight(double r) const {
        const double x = std::fabs(r) / width;
        if (loss == Loss::huber && x > 1) return 1 / x;
        if (loss == Loss::cauchy) return 1 / (1 + x * x);
        return 1;
    }
};

// The residuals of one term.
struct ResidualBlock {
    // What is compared: numbers `first` to `first + count` of the array are its residuals.
    struct Channel {
        std::string name;  // "position"
        std::string unit;  // of sigma; may be empty
        std::int64_t first = 0, count = 0;
    };
    std::string owner;      // the scene's object
    std::string file = {};  // that it compares with; "" if with none
    double weight = 1;      // of the term
    RobustLoss loss = {};
    std::vector<Channel> channels;
    std::vector<double> times;     // s in the scene, one for each residual
    std::vector<double> measured;  // as the file has them; empty without a file
    Array values;                  // {residuals, 1}, once the steps were run
    // For each channel, if there is a file: what is measured is scale * measured + offset. They are
    // one number for each channel, or one for all.
    const Quantity *sigma = nullptr, *scale = nullptr, *offset = nullptr;

    static double of(const Quantity* numbers, std::size_t channel, double otherwise) {
        return numbers == nullptr ? otherwise : numbers->values[numbers->shared ? 0 : channel];
    }
};

// In Model::shared().
struct Residuals {
    std::vector<ResidualBlock> blocks;
};

}  // namespace hindcast::model
