// The coordinates in which a search of NLopt moves, and the way to physical values and back.
//
//     x = project(s u)                 linear scale
//     x = project(o exp(s u))          log scale; o: the value where the search starts, so u = 0
//
// s is the root of the parameter's rate, rounded to a power of two, so that linear coordinates are
// exact and a parameter with rate r moves along the gradient as it does by gradient descent.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/optim/update_rule.hpp"
#include "engine/runtime/launch.hpp"

namespace hindcast::optim {

class SearchSpace {
public:
    // `scaled`: s as above; otherwise s = 1.
    SearchSpace(const Variables& variables, bool scaled, const std::shared_ptr<Device>& device);

    // Puts the origin of the log scales here; before anything else.
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
    Variables variables_;
    Array from_, gradient_, to_, origin_;
    std::unique_ptr<Launch> to_coordinates_, to_values_, to_gradient_;
    Launch::Replay run_coordinates_, run_values_, run_gradient_;
};

}  // namespace hindcast::optim
