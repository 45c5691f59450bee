// Is a gradient right? The adjoint of a scene's loss against everything that must agree with it.
//
//   entries      dL/dp_i against central differences (L(p + h e_i) - L(p - h e_i)) / 2h
//   directions   g.u against central differences along random u, and against forward mode
//   Hessian      H u against central differences of the adjoint, and u.Hv = v.Hu (on request)
//   minima       the effect of minimizations' tolerance on the gradient (in scenes with any)
//   f32          the adjoint of the f32 program against that of the f64 program (on request)
//
// With a horizon ("gradients" in the scene) all of this is about the derivatives of the last steps,
// as everywhere: differences are those of runs that begin at the horizon, from the state that the
// whole run has there at p.
//
// Everything is done in z = p / s, where s is the largest magnitude in the entry's parameter (1 if
// that is 0), so that parameters of different units weigh alike; an entry other than 0 and below a
// thousandth of that, as in lists of several units, has its own magnitude, but at least a millionth
// of the largest. Differences are those of the f64
// program, over h = 1e-2, 1e-3, ... 1e-9 and, to see whether the loss is smooth, over w, w/2, w/4 ...
// (GradientCheckOptions::span; along a random direction the entry that moves most moves by that).
// slope_verdict.hpp has the rule by which they judge the adjoint. Wide steps that leave the
// parameter's bounds, or what a module accepts, do not count; of parameters at the edge of what they may
// be, directions lead inwards. The runs of one direction are an
// ensemble (ensemble.hpp).
//
// The floor of the scale there is a thousandth of the largest entry of the (scaled) gradient; for
// directions likewise of |g| |u|. Forward against reverse mode refers to the sum of |g_k u_k| or the
// terms that cancel, f32 against f64 to |g| or the root mean square of the directions' terms, and so
// does the part of minimizations: each search of a minimum ends with a residual r, a little way
// dx = -H^-1 r from the exact minimum. The change of loss and gradient, to first order, if all
// searches went that way is one Hessian product, with these dx as the only tangents.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/sim/gradients/slope_verdict.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

struct GradientCheckOptions {
    std::size_t entries = 16;  // how many entries are checked one by one, evenly spread
    int directions = 8;
    bool hessian = false;
    std::uint64_t seed = 1;  // of the random directions
    std::vector<double> at;  // parameter values; empty: the scene's
    double span = 0.1;  // of the widest differences, relative to the parameter; 0: none are wide
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
    // One derivative against differences, per unit of the parameter.
    // Steps are relative to the parameter's magnitude.
    struct Slope : SlopeJudgment {
        double adjoint = 0;
        bool passed() const { return passes(verdict); }
    };
    struct Entry : Slope {
        std::size_t index = 0;
        std::string name;
        std::string why;  // the reason for a kink, if a module knows one
    };
    struct Direction : Slope {
        double forward = 0, forward_error = 0;
        bool forward_passed = false;
    };
    struct Hessian {
        double norm = 0, error = 0, step = 0;  // |Hu| and Hu against differences of the adjoint
        double symmetry_error = 0;             // against the next direction
        bool passed = false, symmetric = false;
    };
    struct Minima {
        std::int64_t solves = 0;       // whose distance is known; 0: no parameter acts on any
        double distance = 0;           // to the exact minimum: the largest component of H^-1 r, m
        double loss = 0;               // change of the loss
        std::vector<double> gradient;  // change of each of its entries, in physical units
        double error = 0;              // its size relative to |g|
        bool passed = false;
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
    std::optional<Minima> minima;  // in scenes whose steps minimize
    std::optional<Single> f32;
    // Norms of the adjoint of the state at each step boundary, at the point that is checked.
    Rollout::AdjointNorms adjoint_norms;
    std::string adjoint_culprit;  // the array whose adjoint was first not finite, if any
    CheckpointPlan plan;          // of the f64 program's gradients
    bool stopped = false;         // by go_on

    bool passed() const;
    SlopeVerdict worst() const;  // of entries and directions: ok if there are none
    // One line for each verdict that failed.
    std::vector<std::string> failures() const;
    // Notes on derivatives that passed: one line for each kink.
    std::vector<std::string> notes() const;
};

// Differences come from the f64 program whatever options.precision says; with f32 the f32 adjoint
// is compared as well. Throws Error if the scene has no parameters or no objective.
GradientReport check_gradients(const Scene& scene, const Registry& registry,
                               const SimulationOptions& options,
                               const GradientCheckOptions& wanted);

// The tables that `hindcast check` prints.
std::string to_text(const GradientReport& report);

}  // namespace hindcast
