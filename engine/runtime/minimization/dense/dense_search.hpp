// DenseSearch: Newton's method inside a kernel, to a minimum.
#pragma once

#include "engine/runtime/minimization/dense/dense_trace.hpp"
#include "engine/runtime/minimization/rules/search_rules.hpp"

namespace hindcast::dense {

class DenseSearch {
public:
    // `factorizes`: whether the Hessian at the minimum is wanted, factorized.
    DenseSearch(DenseTrace& trace, bool factorizes);

    // Records the search from the positions that the launch is given, its errors, and what became
    // of it; the minimum is put where the positions were.
    void record();

    const LocalArray& x() const { return x_; }  // of all points, at the minimum
    const LocalArray& gradient() const { return g_; }
    const DenseMatrix& hessian() const { return h_; }

private:
    void evaluate();
    void arrive();
    void step();
    void refuse();
    void move();
    void fail(const lang::Bool& condition, const search::Words& words, const Int& point);
    DenseTrace& t_;
    bool factorizes_;
    LocalArray x_, base_, step_, g_;
    DenseMatrix h_;
    Int phase_, iterations_, projected_, refused_, halvings_;
    Float energy_, magnitude_, scale_, slope_, gain_, farthest_, fraction_, here_, terms_here_;
};

// The outcome of a search, like MinimizationOutcome.
struct SearchNumbers {
    Int iterations, projected, refused;
    Float energy, scale, gain, residual, step;
};
// Records that it is put to the outcomes of the launch.
void note_outcome(DenseTrace& trace, const SearchNumbers& numbers);

// Records that the Hessian has no positive definite factorization: an error at the point of `found`.
void fail_no_minimum(DenseTrace& trace, const DenseMatrix::Finding& found);

}  // namespace hindcast::dense
