#include "kernels/solids/shown.hpp"

#include "engine/ad/grad.hpp"
#include "engine/model/dimension.hpp"
#include "kernels/particles/energies.hpp"

namespace hindcast::solids {

using namespace lang;
using model::Model;

namespace {

// A shown quantity of an element with deformation gradient F, from its energy density.
using Measure = Float (*)(const Mat3& F, const std::function<Float(const Mat3&)>& energy_density);

Float energy_density(const Mat3& F, const std::function<Float(const Mat3&)>& W) { return W(F); }

Float von_mises_stress(const Mat3& at, const std::function<Float(const Mat3&)>& W) {
    const Mat3 F = ad::variable(at);
    const Mat3 P = ad::grad(W(F), F);
    const Mat3 sigma = (P * transpose(F)) * (1.0 / determinant(F));
    const Float pressure = (sigma(0, 0) + sigma(1, 1) + sigma(2, 2)) / 3.0;
    const Mat3 s = sigma - Mat3::identity() * pressure;
    return sqrt(1.5 * inner(s, s));
}

template <int D>
KernelDef measured(const std::string& name, const Law& law, Measure measure) {
    using V = Vec<Float, D>;
    return kernel(
        name, {"points", "x", "inverse", "volume", law.first(), law.second(), law.own(), "values"},
        [law, measure](Int e, Read<Corners<D>> corners, Read<V> x, Read<Gradient<D>> inverse,
                       Read<Float>, Property<Float> first, Property<Float> second,
                       Property<Float> own, Write<Float> to) {
            const Corners<D> c = corners[e];
            const Mat3 F = in_space(deformation_gradient<D>([&](int k) -> V { return x[c[k]]; },
                                                            Gradient<D>(inverse[e])));
            to[e] = measure(F, [&](const Mat3& of) {
                return law.energy_density<3>(of, e, first, second, own);
            });
        });
}

}  // namespace

void show(Model& model, const std::string& owner, const Law& law, const EnergyTerm& elastic) {
    const auto publish = [&](const std::string& name, const std::string& unit,
                             const std::string& meaning, Measure measure) {
        particles::publish_shown(
            model, {.owner = owner, .name = name, .unit = unit, .meaning = meaning}, elastic,
            [=](Model& m) {
                return model::for_dimension(m, [&](auto D) {
                    return measured<D>(law.material->name + " " + name, law, measure);
                });
            });
    };
    publish("energy density", "J/m^3", "elastic energy per volume at rest of each element",
            energy_density);
    publish("von Mises stress", "Pa", "of the Cauchy stress in each element", von_mises_stress);
}

}  // namespace hindcast::solids
