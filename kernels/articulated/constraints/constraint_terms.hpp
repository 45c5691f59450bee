// The convex problem of a robot's constraints: of all accelerations a, the one with the least
//   a . M a / 2 - f . a + sum over constraints of s(J a - aref)
// with the inertia matrix M, the force f of everything but constraints, and s as in row_force.hpp.
// This file has the work of a kernel for it, however its numbers are read.
//
// Rows of one degree of freedom (limits and friction loss of joints) have a sign in place of a row of J.
//
//   inertia       nv x nv   on and below the diagonal
//   force         nv
//   dof_row_dof   i32       the degree of freedom of each such row
//   dof_row_sign            1 or -1
//   dof_row_aref, dof_row_mass, dof_row_low, dof_row_high
//   row_count     i32 x 1   other rows in use: the first ones
//   row_cone      i32       0: a row by itself; d: the first of a cone of dimension d; -1: its others
//   row_jacobian  rows x nv
//   row_aref, row_mass, row_low, row_high, row_friction
// A row whose mass is 0 is at rest. row_low and row_high are of rows by themselves, row_friction of
// cones.
#pragma once

#include <functional>
#include <vector>

#include "kernels/articulated/constraints/row_force.hpp"

namespace hindcast::articulated {

struct RowSizes {
    int dofs = 0;            // nv
    int dof_rows = 0;        // of one degree of freedom
    int rows = 0;            // others, at most
    int alone = 0;           // the first of these, which are not part of a cone
    std::vector<int> cones;  // dimensions that occur
};

// A kernel's access to the arrays above.
struct RowReader {
    using Reals = std::function<Float(const Int& index)>;
    using Integers = std::function<Int(const Int& index)>;
    Reals inertia, force;
    Integers dof;
    Reals sign, dof_aref, dof_mass, dof_low, dof_high;
    Integers count, cone;
    Reals jacobian, aref, mass, low, high, friction;
};

class ConstraintTerms {
public:
    using Vector = std::function<Float(const Int& dof)>;

    ConstraintTerms(const RowSizes& sizes, RowReader reader) : n(sizes), read(std::move(reader)) {}

    // For each row of one degree of freedom that is at work.
    void each_dof_row(
        const std::function<void(Int row, Int dof, Float sign, RowNumbers numbers)>& body) const;
    // For each other row by itself that is at work, and each cone, by its first row.
    void each_row(const std::function<void(Int row, RowNumbers numbers)>& alone,
                  const std::function<void(Int row, Cone cone)>& together) const;
    // (J x)_row, and the same less aref; of each row of a cone.
    Float along(const Int& row, const Vector& x) const;
    Float residual(const Int& row, const Vector& x) const { return along(row, x) - read.aref(row); }
    Cone::Numbers residuals(const Int& first, const Cone& cone, const Vector& x) const;
    Float jacobian(const Int& row, const Int& dof) const {
        return read.jacobian(row * n.dofs + dof);
    }
    // Calls body for each degree of freedom.
    void each_dof(const std::function<void(Int dof)>& body) const { for_(0, n.dofs, body, n.dofs); }

    RowSizes n;
    RowReader read;
};

// The arrays above, as parameters of a kernel that read them.
RowReader reader_of(const Read<Float>& inertia, const Read<Float>& force, const Read<Int>& dof,
                    const Read<Float>& sign, const Read<Float>& dof_aref,
                    const Read<Float>& dof_mass, const Read<Float>& dof_low,
                    const Read<Float>& dof_high, const Read<Int>& count, const Read<Int>& cone,
                    const Read<Float>& jacobian, const Read<Float>& aref, const Read<Float>& mass,
                    const Read<Float>& low, const Read<Float>& high, const Read<Float>& friction);
// Adds the derivative of the problem by a at a = x.
void add_gradient(const ConstraintTerms& terms, const ConstraintTerms::Vector& x,
                  const Accumulate<Float>& gradient);

// The derivative of the problem by a, as a kernel of one item. Its parameters: "x" (a), those above that
// the sizes have, and "gradient", to which it is added.
KernelDef constraint_gradient(const RowSizes& sizes);

// The force of each row but those of one degree of freedom, by the acceleration "x", as a kernel of
// one item: "row_force", N or N m. Those of rows at rest are not written.
KernelDef row_forces(const RowSizes& sizes);

}  // namespace hindcast::articulated
