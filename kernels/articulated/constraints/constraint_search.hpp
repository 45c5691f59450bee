// ConstraintSearch: Newton's method to the accelerations of a robot with its constraints, inside a
// kernel.
#pragma once

#include "engine/runtime/minimization/dense/dense_search.hpp"
#include "engine/runtime/minimization/dense/derivative.hpp"
#include "kernels/articulated/constraints/constraint_terms.hpp"

namespace hindcast::articulated {

class ConstraintSearch {
public:
    // `factorizes`: whether the Hessian at the minimum is wanted, factorized.
    ConstraintSearch(dense::DenseTrace& trace, const ConstraintTerms& terms, bool factorizes);

    // Records the search from the accelerations that the launch is given, and its errors; the
    // minimum is put there.
    void record();

    dense::Minimum minimum() const { return {x_, g_, h_}; }

private:
    void residuals();
    void slope();
    void curvature();
    void newton_step();
    void line_search();
    void fail(const Bool& condition, const std::string& happened, const std::string& remedy);

    // The derivatives of the potential along the step, at a part of it.
    struct Along {
        Float slope, curvature;
    };
    Along along_step(const Float& part, const Along& smooth) const;

    dense::DenseTrace& t_;
    const ConstraintTerms& terms_;
    bool factorizes_;
    LocalArray x_, g_, step_;
    LocalArray r_, r_step_;  // J x - aref, J step
    // Curvatures of rows in the Hessian that was factorized last: it is made anew where one differs.
    LocalArray dof_curvature_, curvature_;
    Int differs_;
    dense::DenseMatrix h_;
    Int phase_, iterations_, trials_;
    Float scale_, slope_, gain_, farthest_, part_;
};

// Records the Hessian at x: on and above the diagonal of h.
void constraint_hessian(const ConstraintTerms& terms, const LocalArray& x,
                        const dense::DenseMatrix& h);

}  // namespace hindcast::articulated
