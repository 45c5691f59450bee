// The scene's "optimizer" object: which rule updates the parameters, and when to stop.
//
//     "optimizer": { "type": "adam", "rate": 0.05, "iterations": 200,
//                    "clip": {"norm": 1}, "groups": {"lengths": {"rate": 0.1}},
//                    "stop": {"loss_below": 1e-6, "patience": 20} }
//
// Every key is one row of a table in settings.cpp, from which the reader, the JSON schema and the
// list of what a type accepts all derive. A key that its type does not use is an error, not
// ignored.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/document/node.hpp"

namespace hindcast::optim {

// u is the optimizer's variable: the parameter, or its logarithm where "scale" is "log". g is the
// gradient in u after clipping, a product of rates stands for
// rate * (the group's rate) * (the parameter's rate).
enum class RuleType : std::uint8_t {
    gradient_descent,             // u <- u - rate g
    normalized_gradient_descent,  // u <- u - rate g / |g|
    momentum,                     // m <- momentum m + g;  u <- u - rate m
                                  // nesterov: u <- u - rate (g + momentum m)
    adam,                         // Kingma and Ba 2015, algorithm 1
    newton_cg,                    // trust region, conjugate gradients on Hessian products
                                  // (Steihaug 1983; newton_rule.cpp)
    lbfgs,                        // L-BFGS-B (Byrd et al. 1995; lbfgs_rule.cpp)
    nelder_mead,                  // NLopt's derivative-free searches, for comparison
    subplex,
    cobyla,
    bobyqa,
    direct
};
inline constexpr int rule_types = 11;
const char* name_of(RuleType type);
bool uses_gradient(RuleType type);    // the update needs the gradient
bool uses_hessian(RuleType type);     // ... and products with the Hessian
bool derivative_free(RuleType type);  // a search of NLopt

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Settings {
    RuleType type = RuleType::lbfgs;
    std::int64_t iterations = 100;  // updates; the history has one row more
    // Above 0. gradient_descent, normalized_gradient_descent and momentum need it; adam: 0.001.
    // lbfgs: the first point tried is u - rate g (default: 0.08 |u| along the gradient, where
    // parameters above 1 on a linear scale are divided by their size).
    // newton_cg: the first trust radius, in u (default: none until a step fails).
    // Derivative-free, direct excepted: the length of the first steps (default: NLopt's choice).
    std::optional<double> rate;
    double momentum = 0.9;              // momentum: in [0, 1)
    bool nesterov = false;              // momentum
    double beta1 = 0.9, beta2 = 0.999;  // adam: in [0, 1)
    double epsilon = 1e-8;              // adam: added to the root of the second moment
    double cg_tolerance = 1e-3;         // newton_cg: residual of the inner solve, relative to |g|
    std::optional<std::int64_t> cg_iterations;  // newton_cg: most of one inner solve (default: 2n)
    double clip_norm = unlimited;   // "clip": {"norm": c}: longer gradients are shortened to c
    double clip_value = unlimited;  // "clip": {"value": c}: each entry is held in [-c, c]
    std::map<std::string, double> groups;  // "groups": {NAME: {"rate": factor}}
    // lbfgs: how many pairs of steps and gradient changes it keeps. Default: 50 for up to 1000
    // parameters, 20 for more.
    std::optional<std::int64_t> memory;
    std::int64_t memory_for(std::size_t parameters) const;
    // lbfgs and the derivative-free searches: most roll-outs. Default: 100 for each iteration.
    std::optional<std::int64_t> evaluations;
    std::int64_t most_evaluations() const;

    // A row that satisfies one of these is the last.
    std::optional<double> loss_below;
    std::optional<double> gradient_below;  // of the Euclidean norm of the physical gradient
    // No progress in `patience` rows one after the other. A row makes progress if its loss is below
    // the one at the last progress by more than relative_change times that loss's magnitude.
    std::optional<std::int64_t> patience;  // with relative_change alone: 10
    double relative_change = 0;

    // `node` may be null: a scene without "optimizer" gets the defaults. `known_groups` are those
    // that parameters belong to. Throws Error for wrong, unused and missing keys.
    static Settings read(const document::Node* node, std::span<const std::string> known_groups);

    double base_rate() const;      // the rate, or the type's default (1 if it has none)
    std::string describe() const;  // "momentum, rate 0.1, momentum 0.9"
};

// The JSON schema (text) of "optimizer".
std::string schema();

}  // namespace hindcast::optim
