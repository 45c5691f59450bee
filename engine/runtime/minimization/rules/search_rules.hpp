// Rules that the two searches for a minimum share (newton.cpp, dense/dense_search.cpp): the
// acceptance of a step, and the texts of their errors.
#pragma once

#include <string>

namespace hindcast::search {

// Armijo: a step must gain this part of what its slope promises.
inline constexpr double sufficient = 1e-4;
inline constexpr int most_halvings = 60;
// Differences of energies smaller than this part of the terms' magnitude are rounding error: there the
// slope at the trial point says whether the energy has not risen (Hager and Zhang 2005).
inline constexpr double rounding = 1e-14;
inline constexpr double steepest_at_end = -(1 - 2 * sufficient);  // of the slope at the start
// A pivot of less than this part of its diagonal element is rounding error for the most part.
inline constexpr double least_pivot = 1e-13;

struct Words {
    std::string happened, remedy;
};
inline const Words indefinite{
    "this is not a minimum: the Hessian of the energy has a negative eigenvalue",
    "the solution is at a point where it may go either way (buckling): let it start a little to "
    "one "
    "side, or take smaller steps"};
inline const Words singular{
    "the Hessian of the energy is singular to rounding: the minimum is not isolated, and has no "
    "derivative",
    "hold what is free to move, give it inertia or another energy, or leave out what has none"};
inline const Words not_down{"Newton's step is not finite, or does not lower the energy",
                            "lower the step of time"};
inline const Words no_part{"no part of Newton's step lowers the energy",
                           "lower the step of time, or look for an energy that is not smooth"};
inline const Words bad_start{
    "the energy is not finite where the minimization starts",
    "start apart from obstacles, which move by less than their reach in a step, and with elements "
    "that are not inverted"};
inline Words too_many(int iterations) {
    return {"the minimum was not found in " + std::to_string(iterations) + " iterations",
            "lower the step of time, allow more iterations, or raise the tolerance"};
}
inline const Words bad_end{"the last step of the minimization left what is finite",
                           "lower the tolerance"};

}  // namespace hindcast::search
