#include "kernels/articulated/constraints/constraint_terms.hpp"

namespace hindcast::articulated {

void ConstraintTerms::each_dof_row(
    const std::function<void(Int, Int, Float, RowNumbers)>& body) const {
    if (n.dof_rows == 0) return;
    for_(
        0, n.dof_rows,
        [&](Int row) {
            const Float mass = read.dof_mass(row);
            if_(mass > 0.0, [&] {
                body(row, read.dof(row), read.sign(row),
                     {mass, read.dof_low(row), read.dof_high(row)});
            });
        },
        n.dof_rows);
}

void ConstraintTerms::each_row(const std::function<void(Int, RowNumbers)>& alone,
                               const std::function<void(Int, Cone)>& together) const {
    if (n.rows == 0) return;
    for_(
        0, read.count(0),
        [&](Int row) {
            const Float mass = read.mass(row);
            const Int cone =
                n.cones.empty() ? Int(0) : select(row < n.alone, Int(0), read.cone(row));
            if_(mass > 0.0 && cone == 0, [&] {
                alone(row, {mass, read.low(row), read.high(row)});
            });
            for (const int d : n.cones)
                if_(cone == d, [&] {
                    Cone::Numbers masses, friction;
                    for (int j = 0; j < d; ++j) {
                        masses.push_back(read.mass(row + j));
                        friction.push_back(read.friction(row + j));
                    }
                    together(row, Cone(masses, friction));
                });
        },
        n.rows);
}

Float ConstraintTerms::along(const Int& row, const Vector& x) const {
    Float sum = 0;
    each_dof([&](Int k) { sum += jacobian(row, k) * x(k); });
    return sum;
}

Cone::Numbers ConstraintTerms::residuals(const Int& first, const Cone& cone,
                                         const Vector& x) const {
    Cone::Numbers r;
    for (int j = 0; j < cone.dimension(); ++j) r.push_back(residual(first + j, x));
    return r;
}

RowReader reader_of(const Read<Float>& inertia, const Read<Float>& force, const Read<Int>& dof,
                    const Read<Float>& sign, const Read<Float>& dof_aref,
                    const Read<Float>& dof_mass, const Read<Float>& dof_low,
                    const Read<Float>& dof_high, const Read<Int>& count, const Read<Int>& cone,
                    const Read<Float>& jacobian, const Read<Float>& aref, const Read<Float>& mass,
                    const Read<Float>& low, const Read<Float>& high, const Read<Float>& friction) {
    const auto reals = [](const Read<Float>& of) {
        return [of](const Int& i) { return Float(of[i]); };
    };
    const auto integers = [](const Read<Int>& of) {
        return [of](const Int& i) { return Int(of[i]); };
    };
    return {reals(inertia),  reals(force),    integers(dof),   reals(sign),
            reals(dof_aref), reals(dof_mass), reals(dof_low),  reals(dof_high),
            integers(count), integers(cone),  reals(jacobian), reals(aref),
            reals(mass),     reals(low),      reals(high),     reals(friction)};
}

void add_gradient(const ConstraintTerms& t, const ConstraintTerms::Vector& x,
                  const Accumulate<Float>& gradient) {
    const int nv = t.n.dofs;
    t.each_dof([&](Int i) {
        const Float here = x(i);
        Float sum = t.read.inertia(i * nv + i) * here - t.read.force(i);
        for_(
            0, i,
            [&](Int j) {
                const Float m = t.read.inertia(i * nv + j);
                sum += m * x(j);
                gradient[j] += m * here;
            },
            nv);
        gradient[i] += sum;
    });
    t.each_dof_row([&](Int row, Int k, Float way, RowNumbers numbers) {
        const Float r = way * x(k) - t.read.dof_aref(row);
        gradient[k] += way * numbers.slope(r);
    });
    const auto push = [&](const Int& row, const Float& slope) {
        t.each_dof([&](Int k) { gradient[k] += t.jacobian(row, k) * slope; });
    };
    t.each_row([&](Int row, RowNumbers numbers) { push(row, numbers.slope(t.residual(row, x))); },
               [&](Int row, Cone of) {
                   const Cone::Numbers s = of.slope(t.residuals(row, of, x));
                   for (int j = 0; j < of.dimension(); ++j)
                       push(row + j, s[static_cast<std::size_t>(j)]);
               });
}

KernelDef constraint_gradient(const RowSizes& sizes) {
    return kernel(
        "constraint_gradient",
        {"x", "inertia", "force", "dof_row_dof", "dof_row_sign", "dof_row_aref", "dof_row_mass",
         "dof_row_low", "dof_row_high", "row_count", "row_cone", "row_jacobian", "row_aref",
         "row_mass", "row_low", "row_high", "row_friction", "gradient"},
        [sizes](Int, Read<Float> x, Read<Float> inertia, Read<Float> force, Read<Int> dof,
                Read<Float> sign, Read<Float> dof_aref, Read<Float> dof_mass, Read<Float> dof_low,
                Read<Float> dof_high, Read<Int> count, Read<Int> cone, Read<Float> jacobian,
                Read<Float> aref, Read<Float> mass, Read<Float> low, Read<Float> high,
                Read<Float> friction, Accumulate<Float> gradient) {
            const ConstraintTerms t(
                sizes, reader_of(inertia, force, dof, sign, dof_aref, dof_mass, dof_low, dof_high,
                                 count, cone, jacobian, aref, mass, low, high, friction));
            add_gradient(
                t, [x](const Int& i) { return Float(x[i]); }, gradient);
        });
}

KernelDef row_forces(const RowSizes& sizes) {
    return kernel("constraint_row_forces",
                  {"x", "row_count", "row_cone", "row_jacobian", "row_aref", "row_mass", "row_low",
                   "row_high", "row_friction", "row_force"},
                  [sizes](Int, Read<Float> x, Read<Int> count, Read<Int> cone, Read<Float> jacobian,
                          Read<Float> aref, Read<Float> mass, Read<Float> low, Read<Float> high,
                          Read<Float> friction, WriteSlice<Float> force) {
                      const auto reals = [](const Read<Float>& of) {
                          return [of](const Int& i) { return Float(of[i]); };
                      };
                      const auto integers = [](const Read<Int>& of) {
                          return [of](const Int& i) { return Int(of[i]); };
                      };
                      RowReader reader;
                      reader.count = integers(count);
                      reader.cone = integers(cone);
                      reader.jacobian = reals(jacobian);
                      reader.aref = reals(aref);
                      reader.mass = reals(mass);
                      reader.low = reals(low);
                      reader.high = reals(high);
                      reader.friction = reals(friction);
                      const ConstraintTerms t(sizes, std::move(reader));
                      const ConstraintTerms::Vector at = reals(x);
                      t.each_row(
                          [&](Int row, RowNumbers numbers) {
                              force.store_once(row, -numbers.slope(t.residual(row, at)));
                          },
                          [&](Int row, Cone of) {
                              const Cone::Numbers s = of.slope(t.residuals(row, of, at));
                              for (int j = 0; j < of.dimension(); ++j)
                                  force.store_once(row + j, -s[static_cast<std::size_t>(j)]);
                          });
                  });
}

}  // namespace hindcast::articulated
