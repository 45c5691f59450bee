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

template <int D>
struct Energy {
    Law law;
    Float operator()(Int e, const Points<D, D + 1>& x, Read<Gradient<D>> inverse,
                     Read<Float> volume, Property<Float> first, Property<Float> second,
                     Property<Float> own) const {
        const Gradient<D> F = deformation_gradient<D>(
            [&](int k) { return x[static_cast<std::size_t>(k)]; }, Gradient<D>(inverse[e]));
        return volume[e] * law.energy_density<D>(F, e, first, second, own);
    }
};

std::vector<std::string> of_element(const Law& law) {
    return {"inverse", "volume", law.first(), law.second(), law.own()};
}

}  // namespace

std::vector<std::string> Law::parameters() const {
    std::vector<std::string> names{first(), second()};
    if (!material->own.empty()) names.push_back(material->own);
    return names;
}

template <int D>
Float Law::energy_density(const Gradient<D>& F, const Int& e, const Property<Float>& first_of,
                          const Property<Float>& second_of, const Property<Float>& own_of) const {
    const Float first = first_of[e], second = second_of[e],
                own = material->own.empty() ? Float(0) : Float(own_of[e]);
    if (lame()) return material->energy_density(in_space(F), {first, second, own});
    return material->energy_density(
        in_space(F), {first / (2.0 * (1.0 + second)),
                      first * second / ((1.0 + second) * (1.0 - 2.0 * second)), own});
}

template <int D>
KernelDef elastic_force(const Law& law) {
    using V = Vec<Float, D>;
    std::vector<std::string> names = of_element(law);
    names.insert(names.begin(), "corners");
    names.insert(names.end(), {"x", "force"});
    return kernel(law.material->name + "_force", names,
                  [law](Int e, Read<Corners<D>> corners, Read<Gradient<D>> inverse,
                        Read<Float> volume, Property<Float> first, Property<Float> second,
                        Property<Float> own, Read<V> x, Accumulate<V> force) {
                      const Corners<D> c = corners[e];
                      const Gradient<D> D_inverse = inverse[e];
                      const Gradient<D> F = ad::variable(
                          deformation_gradient<D>([&](int k) -> V { return x[c[k]]; }, D_inverse));
                      const Gradient<D> P =
                          ad::grad(law.energy_density<D>(F, e, first, second, own), F);
                      const Gradient<D> H = (P * volume[e]) * transpose(D_inverse);
                      V sum = H.column(0);
                      force[c[1]] -= sum;
                      for (int k = 1; k < D; ++k) {
                          const V h = H.column(k);
                          force[c[k + 1]] -= h;
                          sum += h;
                      }
                      force[c[0]] += sum;
                  });
}

template <int D>
EnergyKernels elastic_energy(const Law& law) {
    return energy<D, D + 1>(law.material->name, of_element(law), Energy<D>{law});
}

template <int D>
EnergyKernels elastic_damping(const Law& law) {
    return stiffness_damping<D, D + 1>(law.material->name + "_damping", of_element(law),
                                       Energy<D>{law});
}

template KernelDef elastic_force<2>(const Law&);
template KernelDef elastic_force<3>(const Law&);
template EnergyKernels elastic_energy<2>(const Law&);
template EnergyKernels elastic_energy<3>(const Law&);
template EnergyKernels elastic_damping<2>(const Law&);
template EnergyKernels elastic_damping<3>(const Law&);
template Float Law::energy_density<2>(const Mat2&, const Int&, const Property<Float>&,
                                      const Property<Float>&, const Property<Float>&) const;
template Float Law::energy_density<3>(const Mat3&, const Int&, const Property<Float>&,
                                      const Property<Float>&, const Property<Float>&) const;

}  // namespace hindcast::solids
