#include "kernels/articulated/constraints/soft_rows.hpp"

#include "kernels/articulated/constraints/row_force.hpp"

namespace hindcast::articulated {

KernelDef friction_rows(const FrictionNames& names, SpringOptions springs, int first) {
    return kernel(
        "articulated_friction_rows",
        {names.of, names.motion, names.solref, names.solimp, names.loss, "h", names.rows + "aref",
         names.rows + "mass", names.rows + "low", names.rows + "high"},
        [springs, first](Int i, Read<Int> of, Read<Two> motion, Property<Two> solref,
                         Property<Five> solimp, Property<Float> loss, Param<Float> h,
                         WriteSlice<Float> aref, WriteSlice<Float> mass, WriteSlice<Float> low,
                         WriteSlice<Float> high) {
            const Int k = of[i], row = first + i;
            const Two m = motion[i];
            const SoftConstraint c({solref[k], solimp[k]}, 0.0, m[1], h.value(), springs,
                                   Spring::none);
            aref.store_once(row, c.reference(m[0]));
            mass.store_once(row, c.mass());
            low.store_once(row, -loss[k]);
            high.store_once(row, loss[k]);
        });
}

KernelDef limit_rows(const LimitNames& names, SpringOptions springs, int first) {
    return kernel(
        "articulated_limit_rows",
        {names.of, names.motion, names.solref, names.solimp, "h", names.rows + "aref",
         names.rows + "mass", names.rows + "low", names.rows + "high"},
        [springs, first](Int i, Read<Int> of, Read<Vec3> motion, Property<Two> solref,
                         Property<Five> solimp, Param<Float> h, WriteSlice<Float> aref,
                         WriteSlice<Float> mass, WriteSlice<Float> low, WriteSlice<Float> high) {
            const Int k = of[i], row = first + i;
            const Vec3 m = motion[i];
            const Float& past = m[0];
            const SoftConstraint c({solref[k], solimp[k]}, past, m[2], h.value(), springs,
                                   Spring::limited);
            aref.store_once(row, c.reference(m[1], past));
            mass.store_once(row, select(past < 0.0, c.mass(), Float(0)));
            low.store_once(row, -unbounded);
            high.store_once(row, 0.0);
        });
}

}  // namespace hindcast::articulated
