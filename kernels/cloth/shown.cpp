#include "kernels/cloth/shown.hpp"

#include <functional>
#include <vector>

#include "engine/ad/grad.hpp"
#include "kernels/particles/energies.hpp"

namespace hindcast::cloth {

using namespace lang;
using model::Model;

namespace {

using Columns = std::array<Vec3, 2>;
using Density = std::function<Float(const Strain&)>;
using Measure = Float (*)(const Columns& f, const Density& W);

Float energy_density(const Columns& f, const Density& W) { return W(Membrane::strain(f)); }

Float tension(const Columns& f, const Density& W) {
    const Strain at = Membrane::strain(f);
    const std::vector<Float> E{ad::variable(at.along), ad::variable(at.across),
                               ad::variable(at.shear)};
    // E_uv stands for E_vu too.
    const std::vector<Float> S = ad::gradient(W({E[0], E[1], E[2]}), E);
    const Float uu = S[0], vv = S[1], uv = 0.5 * S[2];
    // F = Q R with R = ((p, q), (0, r)): in the axes Q of the plane, F S F^T / j is R S R^T / (p r).
    const Float p = norm(f[0]), q = dot(f[0], f[1]) / p, r = norm(cross(f[0], f[1])) / p;
    const Float a = (p * p * uu + 2.0 * p * q * uv + q * q * vv) / (p * r),
                b = (p * uv + q * vv) / p, c = r * vv / p;
    return 0.5 * (a + c) + norm(Vec2(0.5 * (a - c), b));
}

KernelDef measured(const std::string& name, const Membrane& membrane, Measure measure) {
    std::vector<std::string> names = Membrane::names();
    names.insert(names.begin(), {"points", "x"});
    names.emplace_back("values");
    return kernel(
        name, names,
        [membrane, measure](Int e, Read<Int3> corners, Read<Vec3> x, Read<Mat2> inverse,
                            Read<Float>, Property<Float> warp_stiffness,
                            Property<Float> weft_stiffness, Property<Float> shear_stiffness,
                            Property<Float> poisson_ratio, Write<Float> to) {
            const Int3 c = corners[e];
            const Points<3, 3> at{x[c[0]], x[c[1]], x[c[2]]};
            to[e] = measure(Membrane::columns(at, inverse[e]), [&](const Strain& E) {
                return membrane.density(E, e, warp_stiffness, weft_stiffness, shear_stiffness,
                                        poisson_ratio);
            });
        });
}

}  // namespace

void show(Model& model, const std::string& owner, const Membrane& membrane,
          const EnergyTerm& elastic) {
    const auto publish = [&](const std::string& name, const std::string& unit,
                             const std::string& meaning, Measure measure) {
        particles::publish_shown(
            model, {.owner = owner, .name = name, .unit = unit, .meaning = meaning}, elastic,
            [=](Model&) { return measured(name, membrane, measure); });
    };
    publish("membrane energy density", "J/m^2",
            "energy of stretch and shear per area at rest of each triangle", energy_density);
    publish("membrane tension", "N/m",
            "largest principal force per length in each triangle, positive where it pulls",
            tension);
}

}  // namespace hindcast::cloth
