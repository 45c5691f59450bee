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

// An energy as three kernels. All have the parameters "points" (the numbers of an item's points),
// "x" (the positions of all points) and those of the function, and then their own:
//   value     "value"      f64, the sum over all items
//   gradient  "gradient"   one vector per point: dE/dx is added
//   hessian   "column"     item e n + j: column j of the n x n Hessian of item e, n = D K; rows are
//                          ordered by point, then component
struct EnergyKernels {
    lang::KernelDef value, gradient, hessian;
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
        return lang::kernel(
            name + " value", names,
            [f](lang::Int e, lang::Read<Numbers> points, lang::Read<V> x, P... p,
                lang::Reduce<lang::Float> sum) { sum += f(e, gather(points[e], x), p...); });
    }
    static lang::KernelDef gradient(const std::string& name, const std::vector<std::string>& names,
                                    const C& f) {
        return lang::kernel(name + " gradient", names,
                            [f](lang::Int e, lang::Read<Numbers> points, lang::Read<V> x, P... p,
                                lang::Accumulate<V> out) {
                                const Numbers numbers = points[e];
                                const Points<D, K> at = variables(gather(numbers, x));
                                const std::vector<lang::Float> g =
                                    ad::gradient(f(e, at, p...), scalars(at));
                                for (int k = 0; k < K; ++k)
                                    for (int c = 0; c < D; ++c)
                                        out[PointNumbers<K>::at(numbers, k)][c] += g[k * D + c];
                            });
    }
    static lang::KernelDef hessian(const std::string& name, const std::vector<std::string>& names,
                                   const C& f) {
        return lang::kernel(name + " Hessian", names,
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

}  // namespace detail

// An energy of K points of dimension D each. `names`: of the parameters after the points.
template <int D, int K, class F>
EnergyKernels energy(const std::string& name, const std::vector<std::string>& names, const F& f) {
    using Of = detail::EnergyOf<D, K, decltype(&F::operator())>;
    const auto with = [&](const char* last) {
        std::vector<std::string> all{"points", "x"};
        all.insert(all.end(), names.begin(), names.end());
        all.emplace_back(last);
        return all;
    };
    return {Of::value(name, with("value"), f), Of::gradient(name, with("gradient"), f),
            Of::hessian(name, with("column"), f), D, K};
}

// How far points may go: for steps that no obstacle is passed with. The kernel has one item per
// item of the energy, the parameters "points", "x", "direction" (one vector per point: the whole
// step) and "fraction" (Write<Float>: the part of the step that is allowed, at most 1), and others
// of its own.
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
