// Update rules: how an iteration gets from one point of parameter space to the next.
//
// A rule works on its own variable u: the parameter x, or log x for parameters with a log scale.
// The gradient in u is dL/du = dL/dx for x, and x dL/dx for log x. Bounds hold for x, by projection
// after the update. All arithmetic on parameters is done by kernels in f64 (gradient_rule.hpp,
// search_space.hpp), so that it has the same bits on every device.
//
//     auto rule = make_rule(settings, variables, device);
//     UpdateRule::Step next = rule->step(here, evaluate);    // here: values, loss and gradient
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/document/node.hpp"
#include "engine/optim/settings.hpp"
#include "engine/runtime/device/device.hpp"

namespace hindcast::optim {

// Properties of each entry of the parameter vector. All lists have one length.
struct Variables {
    std::vector<double> low, high;  // bounds of the physical value; may be infinite
    std::vector<double> rate;       // the parameter's rate times its group's
    std::vector<bool> logarithmic;
    // The parameter of the scene that each entry belongs to, in runs; empty: all to one.
    std::vector<std::size_t> parameter = {};
    double loss_rounding = 0x1p-53;  // of the numbers that the loss is computed from, relative

    std::size_t size() const { return low.size(); }
    bool same_parameter(std::size_t a, std::size_t b) const {
        return parameter.empty() || parameter[a] == parameter[b];
    }
};

// A point and its values: physical values, the loss, its physical gradient (may be empty).
struct Evaluation {
    std::vector<double> values;
    double loss = 0;
    std::vector<double> gradient;

    bool finite() const;
};

// Runs the simulation at these values, with or without the gradient. May throw.
using Evaluate = std::function<Evaluation(std::span<const double> values, bool gradient)>;

// The Hessian of the loss at these values, times a direction; both physical. May throw.
using HessianProduct = std::function<std::vector<double>(std::span<const double> values,
                                                         std::span<const double> direction)>;

class UpdateRule {
public:
    struct Step {
        enum class End { converged, limit, stuck };
        bool moved = false;
        std::vector<double> values;  // if moved: the next point
        std::string reason;          // else: why there is none, in words
        End end = End::converged;    // ... and what that is: stuck is a failure
    };

    virtual ~UpdateRule() = default;

    // One iteration from `here` (with its gradient, all finite). Rules with a formula return the
    // next point without a look at it; searches call `evaluate` until they accept a point.
    virtual Step step(const Evaluation& here, const Evaluate& evaluate) = 0;

    // The state that the next steps depend on besides the point; numbers read back exactly. After
    // restore() they are those of the rule that was saved, bit for bit.
    virtual document::Node state() const = 0;
    virtual void restore(const document::Node& state) = 0;
};

// Throws Error for settings that the rule cannot follow, such as direct without bounds, or
// newton_cg without Hessian products.
std::unique_ptr<UpdateRule> make_rule(const Settings& settings, const Variables& variables,
                                      const std::shared_ptr<Device>& device,
                                      const HessianProduct& hessian = {});
std::unique_ptr<UpdateRule> make_newton_rule(const Settings& settings, const Variables& variables,
                                             const std::shared_ptr<Device>& device,
                                             const HessianProduct& hessian);
std::unique_ptr<UpdateRule> make_gradient_rule(const Settings& settings, const Variables& variables,
                                               const std::shared_ptr<Device>& device);
std::unique_ptr<UpdateRule> make_lbfgs_rule(const Settings& settings, const Variables& variables,
                                            const std::shared_ptr<Device>& device);
std::unique_ptr<UpdateRule> make_search_rule(const Settings& settings, const Variables& variables,
                                             const std::shared_ptr<Device>& device);

// Arrays of f64 in a document, bit for bit: a list of numbers, or (more than 1000, or not finite)
// "hex:" and 16 digits for each.
document::Node exact_numbers(std::span<const double> values);
std::vector<double> exact_numbers_of(const document::Node& node, std::size_t count);

bool all_finite(std::span<const double> values);
// Euclidean norm that neither overflows nor underflows on the way.
double norm(std::span<const double> values);

}  // namespace hindcast::optim
