// Points in scenes with an implicit integrator: each step moves the free ones to the minimum of
//
//     sum of m/(2 a^2) |x - x~|^2  +  the energies of all modules  -  sum of m g.x
//
//     implicit_euler   a = h           x~ = x_n + h v_n,    v_{n+1} = (x_{n+1} - x_n) / h
//     bdf2             a = 2/3 h       x~ = (4 x_n - x_{n-1})/3 + 2/9 h (4 v_n - v_{n-1}),
//                                      v_{n+1} = (3 x_{n+1} - 4 x_n + x_{n-1}) / (2 h)
//     quasi_static     without inertia; v_{n+1} = (x_{n+1} - x_n) / h
//
// (Hairer and Wanner 1996, III.1; the first step of bdf2 is one of implicit Euler). The search starts
// at x_n. Fixed points move on with their velocity before the others are looked for. Kicks and
// velocities that decay change v_n, and with bdf2 the step earlier (change_earlier_step).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::particles {

// The positions of all points at the start of the step, an array like "position"; for energies.
Array start_of_step(model::Model& model);

// For bdf2: the positions of all points a step earlier, and their velocities then.
struct EarlierStep {
    Array position, velocity;
};
EarlierStep earlier_step(model::Model& model);

// For kernels that change the velocity of point j by `change` before a step of bdf2: the step
// earlier takes part in it, and moves along as if the point had come with the new velocity. With
// the old one 3/2 of the change would stay.
template <int D>
void change_earlier_step(const lang::Int& j, const lang::Vec<lang::Float, D>& change,
                         const lang::Float& h,
                         const lang::ReadWrite<lang::Vec<lang::Float, D>>& position,
                         const lang::ReadWrite<lang::Vec<lang::Float, D>>& velocity) {
    position[j] -= change * h;
    velocity[j] += change;
}

// The fixed points of the scene; filled by fixed_points().
struct FixedPoints {
    std::vector<char> flags;
};

// Adds the minimization that moves the points; for finish(), when all energies are there.
void integrate_implicitly(model::Model& model);

// The numbers of a range of points, one each, as energies of single points take them.
Array numbers_of(const model::Model& model, model::Range points);

}  // namespace hindcast::particles
