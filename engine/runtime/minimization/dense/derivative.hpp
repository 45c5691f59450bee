// Derivative: what the implicit function theorem says of a minimum, G(x, p) = 0, recorded into a kernel of
// each direction. H is the derivative of the gradient G by x, as it is at the minimum.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/minimization/dense/dense_trace.hpp"

namespace hindcast::dense {

// The end of a search: all points, the gradient of the unknowns, and the Hessian, factorized.
struct Minimum {
    LocalArray x, gradient;
    DenseMatrix hessian;
};

// Sets the Hessian at x.
using Hessian = std::function<void(const LocalArray& x, const DenseMatrix& h)>;

class Derivative {
public:
    // `active`: as GivenKernels::kernel.
    Derivative(DenseTrace& trace, const std::vector<std::string>& active, Hessian hessian)
        : t_(trace), active_(active), hessian_(std::move(hessian)) {}

    // H dx = -(dG/dp dp + dG/dx_fixed dx_fixed)
    void tangent(const Minimum& at);
    void second_tangent(const Minimum& at);
    // l = H^-1 x_bar; p_bar -= l . dG/dp, and the same of the positions that are not free.
    void adjoint();
    // The tangent of adjoint(): l_dot = H^-1 (x_bar_dot - H_dot l), and so on.
    void adjoint_tangent();

private:
    std::vector<std::string> varying(const DenseTerm& term) const;
    std::vector<ir::Kernel> kernels(Direction direction) const;
    void each_item(const std::vector<ir::Kernel>& list, const DenseTrace::PointAccess& with);
    void start_sums(const std::vector<ir::Kernel>& list);
    Float of_point(const LocalArray& all, int c, const Int& point) const;
    void set(const LocalArray& vector, double number) const;
    void solve(const DenseMatrix& h, const LocalArray& v) const;
    void scatter(const LocalArray& unknowns, const LocalArray& all) const;
    void gather(const LocalArray& all, const LocalArray& unknowns) const;
    LocalArray fetch(int symbol, bool free, bool exclusive) const;
    void put(int symbol, const LocalArray& all) const;
    void remove_residual(const Minimum& at, const LocalArray& moved) const;
    DenseMatrix factorized(const LocalArray& x) const;

    DenseTrace& t_;
    const std::vector<std::string>& active_;
    Hessian hessian_;
};

}  // namespace hindcast::dense
