// Newton's method on a potential: minimize(), and the factorized Hessian at a minimum.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/runtime/minimization/energy/hessian.hpp"
#include "engine/runtime/minimization/minimization.hpp"
#include "engine/runtime/minimization/rules/search_rules.hpp"

namespace hindcast {

class Newton {
public:
    // The seconds of its parts are added to `times`.
    Newton(Potential& potential, const MinimizationOptions& options, MinimizationTimes& times);

    // From potential.positions() to a minimum. Throws Error, see Minimization::launch().
    MinimizationOutcome minimize();
    // Factorizes the Hessian as it is at potential.positions(). Throws Error unless it is positive
    // definite.
    void factorize_at_minimum();
    // x = H^-1 b, after factorize_at_minimum().
    void solve(std::span<const double> b, std::span<double> x);

private:
    using Finding = LinearSolver::Finding;
    Finding factorize(const SymmetricMatrix& matrix);
    Finding solve_factorized(std::span<const double> b, std::span<double> x);
    bool direction();  // from gradient_ to step_; whether with the Hessian as it is
    double move(double energy, MinimizationOutcome& outcome);
    bool goes_down(double slope);
    Error no_minimum(Finding finding);
    Error at_point(const search::Words& words, int unknown) const;
    void name_place(Error& error, int unknown) const;
    void check_start(double energy);

    Potential& potential_;
    Hessian hessian_;
    MinimizationOptions options_;
    MinimizationTimes& times_;
    std::unique_ptr<LinearSolver> solver_;
    std::vector<double> x_, trial_, gradient_, step_, work_;
    Finding as_it_is_;  // of the Hessian that is not projected, at the last direction()
};

}  // namespace hindcast
