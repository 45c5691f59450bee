// The coordinates in which a search moves, and the way to physical values and back.
//
//     x = project(s u)                 linear scale
//     x = project(o exp(s u))          log scale; o: the value where the search starts, so u = 0
//
// s is a power of two, so that linear coordinates are exact; see Scaling.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/optim/update_rule.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast::optim {

enum class Scaling {
    none,   // s = 1
    rates,  // near the root of the rate: along the gradient as far as by gradient descent
    sizes   // that, times the parameter's size where the search starts (linear scales only)
};

class SearchSpace {
public:
    SearchSpace(const Variables& variables, Scaling scaling, const std::shared_ptr<Device>& device);

    // Puts the origin of the log scales here, and the sizes: of each parameter the root of the mean
    // square of its entries, but at least 1: that a value is small where a search starts does not
    // say that it stays so. Before anything else.
    void start_at(std::span<const double> values);

    std::vector<double> coordinates(std::span<const double> values) const;
    std::vector<double> values(std::span<const double> coordinates) const;
    // dL/du from dL/dx at x.
    std::vector<double> gradient(std::span<const double> values,
                                 std::span<const double> gradient) const;
    // The bounds in u; -infinity for a log scale without a lower bound of its own.
    std::vector<double> low() const;
    std::vector<double> high() const;

private:
    void set_scales(std::span<const double> values);

    Variables variables_;
    Scaling scaling_;
    Array scale_, from_, gradient_, to_, origin_;
    std::unique_ptr<Launch> to_coordinates_, to_values_, to_gradient_;
    Launch::Replay run_coordinates_, run_values_, run_gradient_;
};

}  // namespace hindcast::optim
