// The loss of a scene as a function of some of its values, with its derivatives: what libraries of
// automatic differentiation compose, whatever the order in which they ask.
//
//     LossFunction f(scene, registry, options, {"cage.rest_length", "ball.velocity"});
//     f.value(x)           L(x)
//     f.gradient(x)        dL/dx, by reverse mode
//     f.slope(x, t)        dL/dx . t, by forward mode
//     f.hessian(x, u)      d2L/dx2 u, by forward over reverse mode
//
// x is one flat vector of f64: the numbers of each input in the order given, each in the shape that
// the scene writes it in (one number for a value that all elements share). Calls may come from any
// thread, and run one after the other. Where a run diverges, value and derivatives are NaN.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/sim/ensemble.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

class LossFunction {
public:
    // Throws Error for a path that names no value with a gradient, or one that is given twice.
    LossFunction(const Scene& scene, const Registry& registry, const SimulationOptions& options,
                 const std::vector<std::string>& inputs);

    struct Input {
        std::string path;
        std::vector<std::int64_t> shape;   // empty: one number
        std::int64_t first = 0, size = 0;  // in x
    };
    const std::vector<Input>& inputs() const { return inputs_; }
    std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
    const std::vector<double>& scene_values() const { return values_; }  // as the scene has them

    double value(std::span<const double> x);
    std::vector<double> gradient(std::span<const double> x);
    double slope(std::span<const double> x, std::span<const double> t);
    std::vector<double> hessian(std::span<const double> x, std::span<const double> u);

    // Many points at once, through the ensemble (ensemble.hpp): one loss each, and gradients if
    // asked for.
    std::vector<Ensemble::Result> evaluate(std::span<const std::vector<double>> points,
                                           bool gradient);

private:
    void set(std::span<const double> x);

    std::mutex mutex_;
    std::unique_ptr<Simulation> simulation_;
    std::vector<Input> inputs_;
    std::vector<double> values_;
    std::unique_ptr<Ensemble> ensemble_;
};

}  // namespace hindcast
