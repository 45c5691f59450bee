// DenseKernels: a minimization of up to 64 unknowns as one kernel of one item, in every direction. An
// ensemble has one problem in each SIMD lane; a lane whose problem is solved waits, and what it
// holds does not change: the bits are those of the problem alone.
//
// The search is that of newton.hpp, with one difference: where the Hessian is not positive definite a
// multiple of the identity is added to it (Nocedal and Wright 2006, 3.4), no eigenvalues are clamped.
#pragma once

#include <memory>

#include "engine/runtime/launch/given_kernels.hpp"
#include "engine/runtime/minimization/dense/dense_problem.hpp"
#include "engine/runtime/minimization/dense/derivative.hpp"

namespace hindcast::dense {

// Outcomes: indices of the kernels' counters in an array of doubles. Sums and maxima since they
// were cleared come first, then the numbers of the last solve.
struct Outcomes {
    enum Total : std::uint8_t {
        solves,
        iterations,
        projected,
        refused,
        energy,
        scale,
        gain,
        residual,
        step,
        most_iterations,
        removed_solves,
        removed_distance,
        totals
    };
    enum Last : std::uint8_t {
        last_iterations = totals,
        last_projected,
        last_refused,
        last_energy,
        last_scale,
        last_gain,
        last_residual,
        last_step,
        size
    };
    static MinimizationOutcome last(const Array& of);
    static MinimizationTotals all(const Array& of);
    static RemovedResiduals removed_residuals(const Array& of);
    static void clear(const Array& of);
    static void clear_removed(const Array& of);
};

class DenseKernels : public GivenKernels {
public:
    explicit DenseKernels(DenseProblem problem);

    ir::Kernel kernel(Direction direction, const std::vector<std::string>& active) const final;
    // For the parameters of the forward kernel.
    std::vector<Argument> arguments() const;
    const Array& outcomes() const { return outcomes_; }

protected:
    const DenseProblem& problem() const { return problem_; }
    // Records the search from the positions that the launch is given; the minimum is put there.
    // `factorizes`: whether the Hessian at the minimum is wanted.
    virtual Minimum search(DenseTrace& trace, bool factorizes) const;
    // Records the Hessian at x.
    virtual void hessian(DenseTrace& trace, const LocalArray& x, const DenseMatrix& h) const;

private:
    DenseProblem problem_;
    Array outcomes_;
};

}  // namespace hindcast::dense
