// Minimization: a launch that moves the free points of an array to a minimum of a potential, and
// whose adjoint is one linear solve.
//
//     x* = argmin E(x; p)          G(x, p) = dE/dx = 0, H = dG/dx positive definite
//
//     forward          projected Newton from x as it stands, then one whole step with the Hessian
//                      as it is
//     tangent          H dx = -dG/dp dp
//     adjoint          H l = x_bar;  p_bar -= l . dG/dp
//     their tangents   the same, differentiated; one factorization serves all solves
//
// p is everything that an energy reads; points that are not free are part of it: their positions
// stay as they are, and have gradients. H is that at the solution, as it is: a negative pivot is an
// error because the point is not a minimum, and so is a matrix that is singular to rounding.
//
// Besides free points, generalized coordinates of bodies that carry points may be unknowns
// (energy/carrier.hpp): then the positions of carried points are results too, and what they were
// before does not matter.
//
//     Minimization solve(device, positions, fixed, terms, {.tolerance = 1e-12});
//     step.add(solve.launch());
//     solve.outcome();     // of the last solve
//
// A step of Newton's method is taken as long as it lowers the energy (Armijo) and passes no
// obstacle (StepLimit). If the Hessian is not positive definite, negative eigenvalues of the
// elements' are taken as zero (Teran, Sifakis, Irving and Fedkiw 2005). It has converged when the
// energy that another step can gain, half the square of the Newton decrement, is less than
// `tolerance` times the energy's scale: the largest sum of the terms' magnitudes in this solve. Up
// to `most_dense` unknowns are one kernel, which runs where launches around it run and in lanes of
// an ensemble (dense/dense_kernels.hpp); more are a function of the host. The choice depends on the
// potential and the options alone. Both work in f64, with the same bits everywhere.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/minimization/energy/carrier.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"
#include "engine/runtime/minimization/rules/options.hpp"

namespace hindcast {

namespace dense {
class DenseKernels;  // dense/dense_kernels.hpp
}

class Minimization {
public:
    // `positions`: {points, 2 or 3}, f32 or f64, like all reals that the energies are given (their
    // kernels work with copies in f64, and the minimum is rounded once). `fixed`: one per point,
    // not 0: not free. The energies' items and points are those of construction. Throws Error where
    // a term or a carrier does not fit.
    Minimization(std::shared_ptr<Device> device, const Array& positions, std::vector<char> fixed,
                 std::vector<EnergyTerm> terms, const MinimizationOptions& options = {},
                 const std::string& description = "minimization",
                 std::vector<Carrier> carriers = {});

    // ReadWrite of the positions and of the carriers' coordinates, Read of the arrays of reals that
    // the energies are given and of all arrays that the carriers are; numbers, and integers of
    // energies, are constants. Raises Error, with the point, if
    // the minimum is not found: too many iterations, no step that lowers the energy, a start where
    // the energy is not finite, no minimum.
    const Launch& launch() const { return launch_; }

    MinimizationOutcome outcome() const;  // of the last solve
    MinimizationTotals totals() const;
    MinimizationTimes times() const;  // since totals were cleared; of one in a kernel: 0
    void clear_totals();

    // While on, first tangents (and with them Hessian products) have -H^-1 r besides, r the gradient
    // that the search left: with the tangents of all p as zero they are the way to the exact minima,
    // to first order, and what follows from it. Tangents of tangents are as ever.
    void remove_residuals(bool on);
    RemovedResiduals removed_residuals() const;  // since that was turned on

private:
    class Function;
    std::shared_ptr<Function> function_;
    std::shared_ptr<const dense::DenseKernels> kernels_;  // if it is one kernel
    Launch launch_;
};

}  // namespace hindcast
