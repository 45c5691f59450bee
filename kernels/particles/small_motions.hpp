// Small motions of the points about their start, on the host: the time step of an explicit scene
// against the limit of stability.
//
// With the stiffness K, the damping C and the masses M, symplectic Euler with a step h is stable
// where the largest eigenvalue of M^-1 (h^2 K + 2 h C) is below 4: for one oscillator h < 2/omega.
// (A mode q with a = 2 h q.Cq and b = h^2 q.Kq, q.Mq = 1, has multipliers z with
// z^2 - (2 - a/2 - b) z + 1 - a/2 = 0; at the limit z = -1.) The eigenvalue is found by Lanczos' method, from below: a stable
// scene is never called unstable.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::particles {

struct SmallMotions {
    // The part of an object: it adds K u to `stiff` and C u to `damp`, one vector per point of the
    // scene each. `start`: the places of all points.
    struct Part {
        std::string owner, pointer;
        std::function<void(std::span<const double> start, std::span<const double> u,
                           std::span<double> stiff, std::span<double> damp)>
            add;
    };
    std::vector<Part> parts;
    std::vector<double> mass;  // kg of each point; 0: it has none

    // In Model::shared(), with a mass for each point. For build().
    static SmallMotions& of(model::Model& model);
    void add_mass(std::int64_t point, double kilograms) {
        mass[static_cast<std::size_t>(point)] += kilograms;
    }
};

// The part of a step h that is stable, for a mode with a = 2 h q.Cq and b = h^2 q.Kq.
double stable_part(double a, double b);

// A spring between points, at the start: along it the stiffness, across it the tension per length
// where that is positive.
struct SmallSpring {
    std::int64_t a = 0, b = 0;
    double stiffness = 0, damping = 0, rest_length = 0;
};
void add_small_springs(model::Model& model, const std::string& owner, const std::string& pointer,
                       std::vector<SmallSpring> springs);

// Lame's lambda and mu of Young's modulus and Poisson's ratio.
inline std::pair<double, double> lame_of(double young, double poisson) {
    return {young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))};
}

// Linear elements: with the strain E = (F^T F - I)/2 the stress is
// S = lambda tr(E) I + 2 mu E, times the measure.
struct SmallElements {
    std::int64_t first = 0;  // of the body's points
    // Views of the body's mesh, which outlives the build.
    std::span<const std::int64_t> corners;  // numbers of its points, n + 1 per element
    std::span<const double> inverse;        // n x n per element, row by row
    std::span<const double> measure;        // of each element at rest
    std::vector<double> density;            // per measure, one or one per element
    std::vector<double> lambda, mu;         // times thickness unless a volume; likewise
    int n = 3;                              // dimension of an element
};
void add_small_elements(model::Model& model, const std::string& owner, const std::string& pointer,
                        SmallElements elements);

// Adds the warning "time_step" where the step of an explicit scene is too long. For finish().
void check_time_step(model::Model& model);

}  // namespace hindcast::particles
