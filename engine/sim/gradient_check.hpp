// Is a gradient right? The adjoint of a scene's loss against everything that must agree with it.
//
//   entries      dL/dp_i against central differences (L(p + h e_i) - L(p - h e_i)) / 2h
//   directions   g.u against central differences along random u, and against forward mode
//   Hessian      H u against central differences of the adjoint, and u.Hv = v.Hu (on request)
//   f32          the adjoint of the f32 program against that of the f64 program (on request)
//
// With a horizon ("gradients" in the scene) all of this is about the derivatives of the last steps,
// as everywhere: differences are those of runs that begin at the horizon, from the state that the
// whole run has there at p.
//
// Everything is done in z = p / s, where s is the largest magnitude in the entry's parameter (1 if
// that is 0), so that parameters of different units weigh alike. Differences are those of the f64
// program, over h = 1e-2, 1e-3, ... 1e-9. Large steps suffer from curvature, small ones from
// rounding; in between, neighbouring steps agree. The result is taken from that plateau: the pair
// of neighbours that differ least, judged without a look at the adjoint. The runs of one direction
// are an ensemble (ensemble.hpp).
//
// Relative errors of entries refer to the larger of both numbers, but at least to a thousandth of
// the largest entry of the (scaled) gradient; those of directions likewise to |g| |u|.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast {

struct GradientCheckOptions {
    std::size_t entries = 16;  // how many entries are checked one by one, evenly spread
    int directions = 8;
    bool hessian = false;
    std::uint64_t seed = 1;            // of the random directions
    std::vector<double> at;            // parameter values; empty: the scene's
    double tolerance = 1e-6;           // adjoint against differences
    double forward_tolerance = 1e-12;  // forward against reverse mode
    double hessian_tolerance = 1e-6;
    double symmetry_tolerance = 1e-10;
    double f32_tolerance = 1e-3;
    double f32_cosine = 0.9999;
    // Asked between roll-outs, with how many of about how many comparisons are done; false ends
    // the check early.
    std::function<bool(std::int64_t done, std::int64_t total)> go_on;
    // Called with the f64 program before its first gradient (which the plan is of) and after it.
    std::function<void(Simulation&)> before_gradient, after_gradient;
};

struct GradientReport {
    struct Entry {
        std::size_t index = 0;
        std::string name;
        double adjoint = 0, difference = 0;  // per unit of the parameter
        double error = 0;                    // relative
        double step = 0;                     // the best one, relative to the parameter's magnitude
        bool passed = false;
    };
    struct Direction {
        double adjoint = 0, difference = 0, error = 0, step = 0;
        double forward = 0, forward_error = 0;
        bool passed = false, forward_passed = false;
    };
    struct Hessian {
        double norm = 0, error = 0, step = 0;  // |Hu| and Hu against differences of the adjoint
        double symmetry_error = 0;             // against the next direction
        bool passed = false, symmetric = false;
    };
    struct Single {
        double error = 0, cosine = 1;  // |g32 - g64| / |g64|
        bool passed = false;
    };

    std::size_t parameters = 0;
    std::int64_t steps = 0;    // whole steps of the run
    std::int64_t horizon = 0;  // so many of them, the last ones, are differentiated; 0: all
    double loss = 0, gradient_norm = 0;  // of the f64 program, in physical units
    std::vector<Entry> entries;
    std::vector<Direction> directions;
    std::vector<Hessian> hessian;
    std::optional<Single> f32;
    // Of the adjoint of the state at each step boundary, at the point that is checked.
    Rollout::AdjointNorms adjoint_norms;
    std::string adjoint_culprit;  // the array whose adjoint was first not finite, if any
    CheckpointPlan plan;          // of the f64 program's gradients
    bool stopped = false;         // by go_on

    bool passed() const;
    // One line for each verdict that failed.
    std::vector<std::string> failures() const;
};

// Differences come from the f64 program whatever options.precision says; with f32 the f32 adjoint
// is compared as well. Throws Error if the scene has no parameters or no objective.
GradientReport check_gradients(const Scene& scene, const Registry& registry,
                               const SimulationOptions& options,
                               const GradientCheckOptions& wanted);

// The tables that `hindcast check` prints.
std::string to_text(const GradientReport& report);

}  // namespace hindcast
