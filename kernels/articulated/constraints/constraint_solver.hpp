// ConstraintKernels: the accelerations of a robot with its constraints, as a launch whose derivatives
// follow from the implicit function theorem (engine/runtime/minimization/dense/).
//
// The search is Newton's method with a line search to the minimum along each step. The problem is
// piecewise quadratic but for elliptic cones, and strictly convex: it ends at its one minimum.
#pragma once

#include <map>
#include <string>

#include "engine/model/model.hpp"
#include "engine/runtime/minimization/dense/dense_kernels.hpp"
#include "kernels/articulated/constraints/constraint_terms.hpp"

namespace hindcast::articulated {

class ConstraintKernels final : public dense::DenseKernels {
public:
    // `arrays`: by the names of constraint_terms.hpp; those that the sizes do not have are missing.
    // `acceleration` (nv): where the search starts, and its end.
    ConstraintKernels(const RowSizes& sizes, const std::map<std::string, Array>& arrays,
                      const Array& acceleration);

protected:
    dense::Minimum search(dense::DenseTrace& trace, bool factorizes) const override;
    void hessian(dense::DenseTrace& trace, const LocalArray& x,
                 const dense::DenseMatrix& h) const override;

private:
    ConstraintTerms terms(const dense::DenseTrace& trace) const;

    RowSizes sizes_;
};

}  // namespace hindcast::articulated
