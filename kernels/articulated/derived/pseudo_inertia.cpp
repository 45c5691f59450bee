#include "kernels/articulated/derived/pseudo_inertia.hpp"

#include <cmath>
#include <span>

#include "engine/base/error.hpp"
#include "kernels/articulated/tree/host_axes.hpp"

namespace hindcast::articulated {

namespace {

// Second moment about the center of mass over the mass: tr(I) / 2 - I.
HostMatrix second_moment(std::span<const double> principal, std::span<const double> quaternion,
                         double mass) {
    const HostMatrix axes = axes_of(quaternion);
    const double half = (principal[0] + principal[1] + principal[2]) / 2;
    HostMatrix s{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k)
                s[i][j] += axes[i][k] * (half - principal[k]) * axes[j][k] / mass;
    return s;
}

}  // namespace

std::vector<double> pseudo_inertias(const robot::RobotModel& model) {
    const auto masses = model.reals("body_mass"), moments = model.reals("body_inertia"),
               places = model.reals("body_ipos"), turns = model.reals("body_iquat");
    std::vector<double> all(10 * masses.size());
    for (std::size_t b = 0; b < masses.size(); ++b) {
        if (masses[b] == 0) continue;
        const HostMatrix s =
            second_moment(moments.subspan(3 * b, 3), turns.subspan(4 * b, 4), masses[b]);
        // From the last row up: s = u u^T with u upper triangular.
        const double u33 = std::sqrt(s[2][2]), u23 = s[1][2] / u33, u13 = s[0][2] / u33;
        const double u22 = std::sqrt(s[1][1] - u23 * u23), u12 = (s[0][1] - u13 * u23) / u22;
        const double u11 = std::sqrt(s[0][0] - u12 * u12 - u13 * u13);
        const double numbers[] = {std::log(masses[b]) / 2,
                                  std::log(u11),
                                  std::log(u22),
                                  std::log(u33),
                                  u12,
                                  u23,
                                  u13,
                                  places[3 * b],
                                  places[3 * b + 1],
                                  places[3 * b + 2]};
        for (std::size_t k = 0; k < 10; ++k) {
            if (!std::isfinite(numbers[k]))
                throw Error(model.describe(robot::ObjectKind::body, static_cast<int>(b)) +
                            " has an inertia that no body with a volume has")
                    .remedy(
                        "make each principal moment less than the sum of the two others, or leave "
                        "out \"inertia_numbers\"");
            all[10 * b + k] = numbers[k];
        }
    }
    return all;
}

KernelDef inertia_from_pseudo() {
    return kernel("articulated_inertia_from_pseudo",
                  {"body_pseudo_inertia", "has_mass", "body_mass", "body_ipos", "body_fullinertia"},
                  [](Int i, Property<Ten> numbers, Read<Int> has_mass, Write<Float> mass,
                     Write<Vec3> place, Write<Six> inertia) {
                      const Ten n = numbers[i];
                      const Float m = select(has_mass[i] == 1, exp(2.0 * n[0]), Float(0));
                      const Float u11 = exp(n[1]), u22 = exp(n[2]), u33 = exp(n[3]);
                      const Float &u12 = n[4], &u23 = n[5], &u13 = n[6];
                      const Float xx = u11 * u11 + u12 * u12 + u13 * u13,
                                  yy = u22 * u22 + u23 * u23, zz = u33 * u33;
                      const Float xy = u12 * u22 + u13 * u23, xz = u13 * u33, yz = u23 * u33;
                      mass[i] = m;
                      place[i] = Vec3(n[7], n[8], n[9]);
                      inertia[i] = Six(m * (yy + zz), m * (xx + zz), m * (xx + yy), -(m * xy),
                                       -(m * xz), -(m * yz));
                  });
}

}  // namespace hindcast::articulated
