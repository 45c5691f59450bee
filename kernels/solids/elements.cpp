#include "kernels/solids/elements.hpp"

#include "engine/ad/grad.hpp"

namespace hindcast::solids {

using namespace lang;

Mat3 in_space(const Mat3& F) { return F; }
Mat3 in_space(const Mat2& F) {
    Mat3 embedded = Mat3::identity();
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            embedded(r, c) = r < 2 && c < 2 ? F(r, c) : Float(r == c ? 1 : 0);
    return embedded;
}

namespace {

// f(law, wrap): kernels and energies have one parameter more where the material has one of its own.
template <int D>
struct Energy {
    Law law;
    Float operator()(Int e, const Points<D, D + 1>& x, Read<Gradient<D>> inverse,
                     Read<Float> volume, Property<Float> first, Property<Float> second) const {
        return value(e, x, inverse, volume, first[e], second[e], Float(0));
    }
    Float value(const Int& e, const Points<D, D + 1>& x, const Read<Gradient<D>>& inverse,
                const Read<Float>& volume, const Float& first, const Float& second,
                const Float& own) const {
        const Gradient<D> F = deformation_gradient<D>(
            [&](int k) { return x[static_cast<std::size_t>(k)]; }, Gradient<D>(inverse[e]));
        return volume[e] * law.energy_density<D>(F, first, second, own);
    }
};
template <int D>
struct EnergyWithOwn {
    Energy<D> energy;
    Float operator()(Int e, const Points<D, D + 1>& x, Read<Gradient<D>> inverse,
                     Read<Float> volume, Property<Float> first, Property<Float> second,
                     Property<Float> own) const {
        return energy.value(e, x, inverse, volume, first[e], second[e], own[e]);
    }
};

std::vector<std::string> of_element(const Law& law) {
    std::vector<std::string> names{"inverse", "volume"};
    for (const std::string& name : law.parameters()) names.push_back(name);
    return names;
}

}  // namespace

std::vector<std::string> Law::parameters() const {
    std::vector<std::string> names{first(), second()};
    if (!material->own.empty()) names.push_back(material->own);
    return names;
}

template <int D>
Float Law::energy_density(const Gradient<D>& F, const Float& first, const Float& second,
                          const Float& own) const {
    if (lame()) return material->energy_density(in_space(F), {first, second, own});
    return material->energy_density(
        in_space(F), {first / (2.0 * (1.0 + second)),
                      first * second / ((1.0 + second) * (1.0 - 2.0 * second)), own});
}

template <int D>
KernelDef elastic_force(const Law& law) {
    using V = Vec<Float, D>;
    const auto add = [law](const Int& e, const Read<Corners<D>>& corners,
                           const Read<Gradient<D>>& inverse, const Read<Float>& volume,
                           const Float& first, const Float& second, const Float& own,
                           const Read<V>& x, Accumulate<V>& force) {
        const Corners<D> c = corners[e];
        const Gradient<D> D_inverse = inverse[e];
        const Gradient<D> F =
            ad::variable(deformation_gradient<D>([&](int k) -> V { return x[c[k]]; }, D_inverse));
        const Gradient<D> P = ad::grad(law.energy_density<D>(F, first, second, own), F);
        const Gradient<D> H = (P * volume[e]) * transpose(D_inverse);
        V sum = H.column(0);
        force[c[1]] -= sum;
        for (int k = 1; k < D; ++k) {
            const V h = H.column(k);
            force[c[k + 1]] -= h;
            sum += h;
        }
        force[c[0]] += sum;
    };
    std::vector<std::string> names = of_element(law);
    names.insert(names.begin(), "corners");
    names.insert(names.end(), {"x", "force"});
    const std::string name = law.material->name + "_force";
    if (law.material->own.empty())
        return kernel(
            name, names,
            [add](Int e, Read<Corners<D>> corners, Read<Gradient<D>> inverse, Read<Float> volume,
                  Property<Float> first, Property<Float> second, Read<V> x, Accumulate<V> force) {
                add(e, corners, inverse, volume, first[e], second[e], Float(0), x, force);
            });
    return kernel(name, names,
                  [add](Int e, Read<Corners<D>> corners, Read<Gradient<D>> inverse,
                        Read<Float> volume, Property<Float> first, Property<Float> second,
                        Property<Float> own, Read<V> x, Accumulate<V> force) {
                      add(e, corners, inverse, volume, first[e], second[e], own[e], x, force);
                  });
}

template <int D>
EnergyKernels elastic_energy(const Law& law) {
    if (law.material->own.empty())
        return energy<D, D + 1>(law.material->name, of_element(law), Energy<D>{law});
    return energy<D, D + 1>(law.material->name, of_element(law), EnergyWithOwn<D>{{law}});
}

template <int D>
EnergyKernels elastic_damping(const Law& law) {
    const std::string name = law.material->name + "_damping";
    if (law.material->own.empty())
        return stiffness_damping<D, D + 1>(name, of_element(law), Energy<D>{law});
    return stiffness_damping<D, D + 1>(name, of_element(law), EnergyWithOwn<D>{{law}});
}

template KernelDef elastic_force<2>(const Law&);
template KernelDef elastic_force<3>(const Law&);
template EnergyKernels elastic_energy<2>(const Law&);
template EnergyKernels elastic_energy<3>(const Law&);
template EnergyKernels elastic_damping<2>(const Law&);
template EnergyKernels elastic_damping<3>(const Law&);
template Float Law::energy_density<2>(const Mat2&, const Float&, const Float&, const Float&) const;
template Float Law::energy_density<3>(const Mat3&, const Float&, const Float&, const Float&) const;

}  // namespace hindcast::solids
