#include "kernels/particles/small_motions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/vectors.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/point_names.hpp"

namespace hindcast::particles {

using model::Model;

SmallMotions& SmallMotions::of(Model& model) {
    SmallMotions& motions = model.shared<SmallMotions>();
    motions.mass.resize(static_cast<std::size_t>(model.point_count()), 0.0);
    return motions;
}

double stable_part(double a, double b) {
    return b > 0 ? (std::sqrt(a * a + 16 * b) - a) / (2 * b) : 4 / a;
}

void add_small_springs(Model& model, const std::string& owner, const std::string& pointer,
                       std::vector<SmallSpring> springs) {
    const auto D = static_cast<std::size_t>(model.dimension());
    const std::vector<double> x = start_points(model);
    struct Linear {
        std::size_t a, b;
        std::array<double, 3> along{};
        double stiffness, across, damping;
    };
    std::vector<Linear> list;
    for (const SmallSpring& s : springs) {
        Linear l{static_cast<std::size_t>(s.a) * D,
                 static_cast<std::size_t>(s.b) * D,
                 {},
                 s.stiffness,
                 0,
                 s.damping};
        double square = 0;
        for (std::size_t k = 0; k < D; ++k) {
            l.along[k] = x[l.b + k] - x[l.a + k];
            square += l.along[k] * l.along[k];
        }
        const double length = std::sqrt(square);
        if (length == 0) {  // without a rest length the same along any direction
            l.across = s.rest_length == 0 ? s.stiffness : 0;
            l.stiffness = l.across;
        } else {
            for (double& c : l.along) c /= length;
            l.across = std::max(0.0, s.stiffness * (1 - s.rest_length / length));
        }
        list.push_back(l);
    }
    SmallMotions::of(model).parts.push_back(
        {owner, pointer,
         [list = std::move(list), D](std::span<const double>, std::span<const double> u,
                                     std::span<double> stiff, std::span<double> damp) {
             for (const Linear& l : list) {
                 std::array<double, 3> d{};
                 double along = 0;
                 for (std::size_t k = 0; k < D; ++k) {
                     d[k] = u[l.b + k] - u[l.a + k];
                     along += d[k] * l.along[k];
                 }
                 for (std::size_t k = 0; k < D; ++k) {
                     const double f = (l.stiffness - l.across) * along * l.along[k] +
                                      l.across * d[k],
                                  c = l.damping * along * l.along[k];
                     stiff[l.b + k] += f, stiff[l.a + k] -= f;
                     damp[l.b + k] += c, damp[l.a + k] -= c;
                 }
             }
         }});
}

// The index of the first number of a corner.
static std::size_t at_point(const SmallElements& of, std::int64_t corner, std::size_t dimension) {
    return static_cast<std::size_t>(of.first + corner) * dimension;
}

void add_small_elements(Model& model, const std::string& owner, const std::string& pointer,
                        SmallElements elements) {
    const auto D = static_cast<std::size_t>(model.dimension());
    const auto n = static_cast<std::size_t>(elements.n);
    const std::size_t count = elements.measure.size();
    SmallMotions& motions = SmallMotions::of(model);
    const auto at = [](const std::vector<double>& list, std::size_t e) {
        return list[std::min(e, list.size() - 1)];
    };
    for (std::size_t e = 0; e < count; ++e)
        for (std::size_t k = 0; k <= n; ++k)
            motions.add_mass(
                elements.first + elements.corners[e * (n + 1) + k],
                at(elements.density, e) * elements.measure[e] / static_cast<double>(n + 1));
    using Gradient = std::array<std::array<double, 3>, 3>;  // D x n
    const auto gradient = [D, n](const SmallElements& of, std::size_t e,
                                 std::span<const double> values) {
        Gradient F{};
        const std::int64_t* const c = &of.corners[e * (n + 1)];
        for (std::size_t i = 0; i < D; ++i)
            for (std::size_t k = 0; k < n; ++k) {
                const double edge =
                    values[at_point(of, c[k + 1], D) + i] - values[at_point(of, c[0], D) + i];
                for (std::size_t j = 0; j < n; ++j)
                    F[i][j] += edge * of.inverse[(e * n + k) * n + j];
            }
        return F;
    };
    motions.parts.push_back(
        {owner, pointer,
         [of = std::move(elements), gradient, at, D, n](
             std::span<const double> x, std::span<const double> u, std::span<double> stiff,
             std::span<double>) {
             for (std::size_t e = 0; e < of.measure.size(); ++e) {
                 const Gradient d = gradient(of, e, u), F = gradient(of, e, x);
                 Gradient S{};  // n x n, of the strain's change
                 double trace = 0;
                 for (std::size_t i = 0; i < n; ++i)
                     for (std::size_t j = 0; j < n; ++j) {
                         double strain = 0;
                         for (std::size_t k = 0; k < D; ++k)
                             strain += 0.5 * (F[k][i] * d[k][j] + d[k][i] * F[k][j]);
                         S[i][j] = 2 * at(of.mu, e) * strain;
                         if (i == j) trace += strain;
                     }
                 for (std::size_t i = 0; i < n; ++i) S[i][i] += at(of.lambda, e) * trace;
                 const std::int64_t* const c = &of.corners[e * (n + 1)];
                 for (std::size_t i = 0; i < D; ++i)
                     for (std::size_t k = 0; k < n; ++k) {
                         double f = 0;  // measure F S grad N of corner k + 1
                         for (std::size_t a = 0; a < n; ++a)
                             for (std::size_t b = 0; b < n; ++b)
                                 f += F[i][a] * S[a][b] * of.inverse[(e * n + k) * n + b];
                         f *= of.measure[e];
                         stiff[at_point(of, c[k + 1], D) + i] += f;
                         stiff[at_point(of, c[0], D) + i] -= f;
                     }
             }
         }});
}

namespace {

// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection on Sturm's sequence, and
// its eigenvector.
std::pair<double, std::vector<double>> largest_of_tridiagonal(const std::vector<double>& a,
                                                              const std::vector<double>& b) {
    double high = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        high = std::max(high, std::abs(a[i]) + (i > 0 ? std::abs(b[i - 1]) : 0) +
                                  (i < b.size() ? std::abs(b[i]) : 0));
    double low = -high;
    const auto has_one_above = [&](double value) {
        double q = 1;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const double coupling = i > 0 ? b[i - 1] * b[i - 1] : 0;
            q = a[i] - value - (i > 0 ? coupling / (q == 0 ? 1e-300 : q) : 0);
            if (q > 0) return true;
        }
        return false;
    };
    for (int k = 0; k < 200 && high - low > 1e-14 * std::abs(high); ++k) {
        const double middle = 0.5 * (low + high);
        (has_one_above(middle) ? low : high) = middle;
    }
    std::vector<double> v(a.size(), 0);
    v[0] = 1;
    for (std::size_t i = 0; i + 1 < a.size(); ++i)
        v[i + 1] = b[i] == 0 ? 0 : ((low - a[i]) * v[i] - (i > 0 ? b[i - 1] * v[i - 1] : 0)) / b[i];
    const double length = std::sqrt(dot(v, v));
    for (double& c : v) c /= length;
    return {low, v};
}

}  // namespace

void check_time_step(Model& model) {
    SmallMotions motions = std::move(SmallMotions::of(model));  // of no use afterward
    model.shared<SmallMotions>() = {};
    if (motions.parts.empty() || model.is_implicit()) return;
    const auto D = static_cast<std::size_t>(model.dimension());
    const std::size_t size = motions.mass.size() * D;
    const std::vector<char>& fixed = model.shared<FixedPoints>().flags;
    std::vector<double> root(size, 0.0);  // 1 / sqrt(mass)
    for (std::size_t p = 0; p < motions.mass.size(); ++p)
        if (motions.mass[p] > 0 && (p >= fixed.size() || fixed[p] == 0))
            for (std::size_t k = 0; k < D; ++k) root[p * D + k] = 1 / std::sqrt(motions.mass[p]);
    const double h = model.step();
    const std::vector<double> x = start_points(model);
    std::vector<double> u(size), stiff(size), damp(size);
    // M^-1/2 (h^2 K + 2 h C) M^-1/2 v
    const auto apply = [&](const std::vector<double>& v) {
        for (std::size_t i = 0; i < size; ++i) u[i] = root[i] * v[i];
        std::ranges::fill(stiff, 0);
        std::ranges::fill(damp, 0);
        for (const SmallMotions::Part& part : motions.parts) part.add(x, u, stiff, damp);
        std::vector<double> result(size);
        for (std::size_t i = 0; i < size; ++i)
            result[i] = root[i] * (h * h * stiff[i] + 2 * h * damp[i]);
        return result;
    };
    std::vector<double> start(size);
    std::uint64_t random = 88172645463325252ULL;  // xorshift (Marsaglia 2003): any start will do
    for (std::size_t i = 0; i < size; ++i) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        start[i] =
            root[i] == 0 ? 0 : 1 + static_cast<double>(random >> 40) * 0x1p-24 * (i % 2 ? 1 : -2);
    }
    const double first = std::sqrt(dot(start, start));
    if (first == 0) return;
    for (double& c : start) c /= first;
    // The tridiagonal matrix; without the vectors of all steps, which are made again for `visit`.
    std::vector<double> diagonal, beside;
    const auto iterate =
        [&](const std::function<void(std::size_t, const std::vector<double>&)>& visit) {
            constexpr std::size_t most = 24;
            diagonal.clear();
            beside.clear();
            std::vector<double> v = start, before(size);
            while (true) {
                if (visit) visit(diagonal.size(), v);
                std::vector<double> w = apply(v);
                diagonal.push_back(dot(w, v));
                const double back = beside.empty() ? 0 : beside.back();
                for (std::size_t i = 0; i < size; ++i)
                    w[i] -= diagonal.back() * v[i] + back * before[i];
                const double rest = std::sqrt(dot(w, w));
                if (diagonal.size() == most || !(rest > 1e-10 * std::abs(diagonal.front()))) return;
                beside.push_back(rest);
                before = std::move(v);
                v = std::move(w);
                for (double& c : v) c /= rest;
            }
        };
    iterate({});
    const auto [most_value, weights] = largest_of_tridiagonal(diagonal, beside);
    if (!(most_value > 4 * (1 + 1e-6))) return;
    std::vector<double> v(size, 0.0);
    iterate([&](std::size_t k, const std::vector<double>& q) {
        for (std::size_t i = 0; i < size; ++i) v[i] += weights[k] * q[i];
    });
    apply(v);
    const double a = 2 * h * dot(u, damp), b = h * h * dot(u, stiff);
    const double scale = stable_part(a, b);
    const SmallMotions::Part* worst = &motions.parts.front();
    double share = -1;
    for (const SmallMotions::Part& part : motions.parts) {
        std::ranges::fill(stiff, 0);
        std::ranges::fill(damp, 0);
        part.add(x, u, stiff, damp);
        const double own = h * h * dot(u, stiff) + 2 * h * dot(u, damp);
        if (own > share) share = own, worst = &part;
    }
    const auto parts = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(model.options().substeps) / scale * 1.0001));
    model.warnings().add(
        {.identifier = "time_step",
         .happened = fmt::format("the step of {:.3g} s is beyond the limit of stability of '{}', "
                                 "{:.3g} s",
                                 h, worst->owner, h * scale),
         .remedy = fmt::format("write \"substeps\": {} or more, make the stiffness smaller or the "
                               "masses larger, or choose an implicit integrator",
                               parts),
         .pointer = worst->pointer,
         .numbers = {{"step", h}, {"limit", h * scale}}});
}

}  // namespace hindcast::particles
