// Energies of a potential, each written once: the energy of one item as a function of the points
// that it depends on.
//
//     // E = k/2 (|x1 - x0| - L)^2
//     EnergyKernels stretch = energy<3, 2>("stretch", {"rest_length", "stiffness"},
//         [](Int s, const Points<3, 2>& x, Property<Float> L, Property<Float> k) {
//             const Float d = norm(x[1] - x[0]) - L[s];
//             return 0.5 * k[s] * d * d;
//         });
//
// Its gradient and its Hessian are derived (ad/grad.hpp). Arguments besides the points are
// parameters as a kernel has them, read only. An item adds nothing where the function returns a
// constant 0; where the state is impossible it returns what is not finite, and a line search turns
// back.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

// The points of one item.
template <int D, int K>
using Points = std::array<lang::Vec<lang::Float, D>, K>;

// An energy as kernels. All have the parameters "points" (the numbers of an item's points), "x"
// (the positions of all points) and those of the function, and then their own:
//   value     "scale", "value"   value += scale E, summed over all items
//   gradient  "gradient"         one vector per point: dE/dx is added
//   force     "force"            one vector per point: dE/dx is subtracted, for explicit steps
//   hessian   "column"           item e n + j: column j of the n x n Hessian of item e, n = D K;
//                                rows are ordered by point, then component
struct EnergyKernels {
    lang::KernelDef value, gradient, force, hessian;
    int dimension = 3, points = 1;
};

namespace detail {

template <int K>
struct PointNumbers {
    using type = lang::Vec<lang::Int, K>;
    static lang::Int at(const type& numbers, int k) { return numbers[k]; }
};
template <>
struct PointNumbers<1> {
    using type = lang::Int;
    static lang::Int at(const type& number, int) { return number; }
};

template <int D, int K, class F>
struct EnergyOf;
template <int D, int K, class C, class S, class... P>
struct EnergyOf<D, K, lang::Float (C::*)(lang::Int, const S&, P...) const> {
    static_assert(std::same_as<S, Points<D, K>>, "an energy takes the item, then its points");
    using Numbers = typename PointNumbers<K>::type;
    using V = lang::Vec<lang::Float, D>;
    static constexpr int size = D * K;

    static Points<D, K> gather(const Numbers& numbers, const lang::Read<V>& x) {
        Points<D, K> points;
        for (int k = 0; k < K; ++k) points[k] = x[PointNumbers<K>::at(numbers, k)];
        return points;
    }
    static std::vector<lang::Float> scalars(const Points<D, K>& points) {
        std::vector<lang::Float> list;
        for (const V& p : points)
            for (int c = 0; c < D; ++c) list.push_back(p[c]);
        return list;
    }
    static lang::KernelDef value(const std::string& name, const std::vector<std::string>& names,
                                 const C& f) {
        return lang::kernel(name, names,
                            [f](lang::Int e, lang::Read<Numbers> points, lang::Read<V> x, P... p,
                                lang::Param<lang::Float> scale, lang::Reduce<lang::Float> sum) {
                                sum += f(e, gather(points[e], x), p...) * scale.value();
                            });
    }
    // Adds the gradient, or subtracts it.
    static lang::KernelDef gradient(const std::string& name, const std::vector<std::string>& names,
                                    const C& f, bool add) {
        return lang::kernel(name, names,
                            [f, add](lang::Int e, lang::Read<Numbers> points, lang::Read<V> x,
                                     P... p, lang::Accumulate<V> out) {
                                const Numbers numbers = points[e];
                                const Points<D, K> at = variables(gather(numbers, x));
                                const std::vector<lang::Float> g =
                                    ad::gradient(f(e, at, p...), scalars(at));
                                for (int k = 0; k < K; ++k)
                                    for (int c = 0; c < D; ++c)
                                        out[PointNumbers<K>::at(numbers, k)][c] +=
                                            add ? g[k * D + c] : -g[k * D + c];
                            });
    }
    static lang::KernelDef hessian(const std::string& name, const std::vector<std::string>& names,
                                   const C& f) {
        return lang::kernel(name, names,
                            [f](lang::Int i, lang::Read<Numbers> points, lang::Read<V> x, P... p,
                                lang::Write<lang::Vec<lang::Float, size>> column) {
                                const lang::Int e = i / size, j = i - e * size;
                                const Points<D, K> at = variables(gather(points[e], x));
                                const std::vector<lang::Float> variable = scalars(at),
                                                               g = ad::gradient(f(e, at, p...),
                                                                                variable);
                                lang::Float along = 0;
                                for (int k = 0; k < size; ++k)
                                    along += select(j == k, g[k], lang::Float(0));
                                const std::vector<lang::Float> h = ad::gradient(along, variable);
                                lang::Vec<lang::Float, size> out;
                                for (int k = 0; k < size; ++k) out[k] = h[k];
                                column[i] = out;
                            });
    }
    static Points<D, K> variables(const Points<D, K>& points) {
        Points<D, K> result;
        for (int k = 0; k < K; ++k) result[k] = ad::variable(points[k]);
        return result;
    }
};

template <int D, int K, class F, class Call = decltype(&F::operator())>
struct StiffnessDamping;
template <int D, int K, class F, class S, class... P>
struct StiffnessDamping<D, K, F, lang::Float (F::*)(lang::Int, const S&, P...) const> {
    using Of = EnergyOf<D, K, lang::Float (F::*)(lang::Int, const S&, P...) const>;
    F f;

    lang::Float operator()(lang::Int e, const Points<D, K>& x, P... p,
                           lang::Read<typename Of::Numbers> numbers,
                           lang::Read<typename Of::V> start, lang::Property<lang::Float> beta,
                           lang::Param<lang::Float> h) const {
        const Points<D, K> from = Of::gather(numbers[e], start), at = Of::variables(from);
        std::vector<lang::Float> way = Of::scalars(x);
        const std::vector<lang::Float> origin = Of::scalars(from), variable = Of::scalars(at);
        for (std::size_t k = 0; k < way.size(); ++k) way[k] = way[k] - origin[k];
        const auto along = [&](const std::vector<lang::Float>& g) {
            lang::Float sum = g[0] * way[0];
            for (std::size_t k = 1; k < way.size(); ++k) sum += g[k] * way[k];
            return sum;
        };
        const lang::Float slope = along(ad::gradient(f(e, at, p...), variable));
        return 0.5 * beta[e] / h.value() * along(ad::gradient(slope, variable));
    }
};

}  // namespace detail

// An energy of K points of dimension D each. `names`: of the parameters after the points.
template <int D, int K, class F>
EnergyKernels energy(const std::string& name, const std::vector<std::string>& names, const F& f) {
    using Of = hindcast::detail::EnergyOf<D, K, decltype(&F::operator())>;
    const auto with = [&](std::vector<std::string> own) {
        std::vector<std::string> all{"points", "x"};
        all.insert(all.end(), names.begin(), names.end());
        all.insert(all.end(), own.begin(), own.end());
        return all;
    };
    const lang::KernelDef value = Of::value(name + " value", with({"scale", "value"}), f);
    const lang::KernelDef gradient = Of::gradient(name + " gradient", with({"gradient"}), f, true);
    const lang::KernelDef force = Of::gradient(name + " force", with({"force"}), f, false);
    const lang::KernelDef hessian = Of::hessian(name + " Hessian", with({"column"}), f);
    return {value, gradient, force, hessian, D, K};
}

// Damping in proportion to the stiffness of an energy f, as in energy(): with x_n the points at the
// start of the step and d = x - x_n, the potential is beta/(2 h) d . H(x_n) d, H the Hessian of f;
// its force is -beta H(x_n) d/h (Rayleigh; semi-implicit as in Li et al. 2020). Parameters after
// those of f: "numbers" (as "points"), "start" (x_n of all points), "beta" (s), "h" (s).
template <int D, int K, class F>
EnergyKernels stiffness_damping(const std::string& name, std::vector<std::string> names,
                                const F& f) {
    names.insert(names.end(), {"numbers", "start", "beta", "h"});
    return energy<D, K>(name, names, hindcast::detail::StiffnessDamping<D, K, F>{f});
}

// StepLimit: the part of a step that points may take without passing an obstacle. The kernel has
// one item per item of the energy, the parameters "points", "x", "direction" (one vector per point:
// the whole step) and "fraction" (Write<Float>: the part of the step that is allowed, at most 1),
// and others of its own.
struct StepLimit {
    lang::KernelDef kernel;
    std::vector<NamedArgument> arguments;  // of the others
};

// One term of a potential: an energy with its arguments.
struct EnergyTerm {
    std::string name;  // in errors and reports: "net: stretch"
    EnergyKernels kernels;
    std::int64_t items = 0;
    Array points;                          // i32 {items, K}
    std::vector<NamedArgument> arguments;  // of the function's own parameters
    std::optional<StepLimit> limit = {};
};

}  // namespace hindcast
