#include "engine/runtime/minimization/dense/derivative.hpp"

#include <algorithm>
#include <utility>

#include "engine/ad/differentiate.hpp"
#include "engine/runtime/minimization/dense/dense_kernels.hpp"
#include "engine/runtime/minimization/dense/dense_search.hpp"

namespace hindcast::dense {

using lang::if_;

// Names of the kernel's parameters that a term's gradient is differentiated by.
std::vector<std::string> Derivative::varying(const DenseTerm& term) const {
    std::vector<std::string> names;
    for (std::size_t p = 0; p < term.gradient.roles.size(); ++p) {
        const ir::Parameter& parameter = term.gradient.kernel.parameters[p];
        const Role& role = term.gradient.roles[p];
        const bool is_asked_for =
            role.kind == Role::input &&
            (active_.empty() ||
             std::ranges::find(active_, name_of(t_.problem, role.input_number)) != active_.end());
        const bool varies = role.kind == Role::positions || role.kind == Role::output;
        if (ir::is_real(parameter.type) && (varies || is_asked_for))
            names.push_back(parameter.name);
    }
    return names;
}
// The kernels of a direction, term by term.
std::vector<ir::Kernel> Derivative::kernels(Direction direction) const {
    std::vector<ir::Kernel> list;
    for (const DenseTerm& term : t_.problem.terms) {
        const ir::Kernel& g = term.gradient.kernel;
        const std::vector<std::string> names = varying(term);
        const bool back = goes_back(direction);
        std::vector<std::string> both = names;
        for (const std::string& name : names)
            both.push_back(back ? ad::adjoint_name(g, name) : ad::tangent_name(g, name));
        ir::Kernel first = back ? ad::adjoint(g, names) : ad::tangent(g, names);
        const bool twice =
            direction == Direction::tangent_tangent || direction == Direction::adjoint_tangent;
        if (twice) first = ad::tangent(first, both);
        list.push_back(std::move(first));
    }
    return list;
}

// One of kernels() for each term.
void Derivative::each_item(const std::vector<ir::Kernel>& list,
                           const DenseTrace::PointAccess& with) {
    for (std::size_t k = 0; k < list.size(); ++k) t_.each_item(t_.problem.terms[k], list[k], with);
}
void Derivative::start_sums(const std::vector<ir::Kernel>& list) {
    for (std::size_t k = 0; k < list.size(); ++k) t_.start_sums(t_.problem.terms[k], list[k]);
}

Float Derivative::of_point(const LocalArray& all, int c, const Int& point) const {
    return all[point * t_.problem.dimension + c];
}
void Derivative::set(const LocalArray& vector, double number) const {
    for (int u = 0; u < t_.problem.rows(); ++u) vector.put(u, number);
}
// v = -H^-1 v
void Derivative::solve(const DenseMatrix& h, const LocalArray& v) const {
    h.solve(0.0, v);
    t_.each_unknown([&](Int u) { v.put(u, -v[u]); });
}
// scatter() copies unknowns into the free points of a vector of all points; gather() copies back.
void Derivative::scatter(const LocalArray& unknowns, const LocalArray& all) const {
    t_.each_free([&](Int point, Int unknown) {
        for (int c = 0; c < t_.problem.dimension; ++c)
            all.put(point * t_.problem.dimension + c, unknowns[unknown + c]);
    });
}
void Derivative::gather(const LocalArray& all, const LocalArray& unknowns) const {
    t_.each_free([&](Int point, Int unknown) {
        for (int c = 0; c < t_.problem.dimension; ++c)
            unknowns.put(unknown + c, of_point(all, c, point));
    });
}
// Copies a derivative of the positions into memory of the kernel, and back. Free points get 0
// unless `free` is true.
LocalArray Derivative::fetch(int symbol, bool free, bool exclusive) const {
    LocalArray all = t_.all_points();
    t_.each_point([&](Int point) {
        for (int c = 0; c < t_.problem.dimension; ++c) {
            const Float value = exclusive ? t_.fetch(symbol, c, point) : t_.load(symbol, c, point);
            const lang::Bool fixed = t_.unknown_of(point) == t_.problem.unknowns;
            all.put(point * t_.problem.dimension + c,
                    free ? value : select(fixed, value, Float(0.0)));
        }
    });
    return all;
}
void Derivative::put(int symbol, const LocalArray& all) const {
    t_.each_point([&](Int point) {
        for (int c = 0; c < t_.problem.dimension; ++c)
            t_.put(symbol, c, point, of_point(all, c, point));
    });
}
DenseMatrix Derivative::factorized(const LocalArray& x) const {
    DenseMatrix h(t_.problem.unknowns, t_.problem.rows());
    hessian_(x, h);
    fail_no_minimum(t_, h.factorize(0.0));
    return h;
}

using Suffix = const std::string&;

void Derivative::tangent(const Minimum& at) {
    const int symbol = t_.derivative(-1, ".t1", true);
    const LocalArray moved = fetch(symbol, false, true), g = t_.vector();
    set(g, 0.0);
    DenseTrace::PointAccess access;
    access.position = [&](Suffix suffix, int c, Int point) {
        return of_point(suffix.empty() ? at.x : moved, c, point);
    };
    access.add_gradient = [&](Suffix suffix, int c, Int point, const Float& value) {
        if (!suffix.empty()) g.add(t_.unknown_of(point) + c, value);
    };
    each_item(kernels(Direction::tangent), access);
    solve(at.hessian, g);
    scatter(g, moved);
    remove_residual(at, moved);
    put(symbol, moved);
}

// dx -= H^-1 r
void Derivative::remove_residual(const Minimum& at, const LocalArray& moved) const {
    if_(t_.number(t_.removes) != 0.0, [&] {
        const LocalArray way = t_.vector();
        t_.each_unknown([&](Int u) { way.put(u, at.gradient[u]); });
        solve(at.hessian, way);
        t_.each_free([&](Int point, Int unknown) {
            for (int c = 0; c < t_.problem.dimension; ++c)
                moved.add(point * t_.problem.dimension + c, way[unknown + c]);
        });
        const auto old = [&](int where) { return t_.fetch(t_.outcomes, 0, where); };
        t_.put(t_.outcomes, 0, int{Outcomes::removed_solves}, old(Outcomes::removed_solves) + 1.0);
        t_.put(t_.outcomes, 0, int{Outcomes::removed_distance},
               max(old(Outcomes::removed_distance), t_.largest(way)));
    });
}

void Derivative::second_tangent(const Minimum& at) {
    const char* const kinds[] = {".t1", ".t2", ".t1.t2"};
    std::vector<int> symbols;
    std::vector<LocalArray> moved, g;
    for (const char* kind : kinds) {
        symbols.push_back(t_.derivative(-1, kind, true));
        moved.push_back(fetch(symbols.back(), false, true));
        g.push_back(t_.vector());
    }
    const auto number = [&](Suffix suffix) {
        return static_cast<std::size_t>(std::ranges::find(kinds, suffix) - kinds);
    };
    DenseTrace::PointAccess access;
    access.position = [&](Suffix suffix, int c, Int point) {
        return of_point(suffix.empty() ? at.x : moved[number(suffix)], c, point);
    };
    access.add_gradient = [&](Suffix suffix, int c, Int point, const Float& value) {
        if (!suffix.empty()) g[number(suffix)].add(t_.unknown_of(point) + c, value);
    };
    const std::vector<ir::Kernel> list = kernels(Direction::tangent_tangent);
    // First the two tangents, then what they are needed for.
    lang::repeat(2, [&](Int pass) {
        for (const LocalArray& v : g) set(v, 0.0);
        each_item(list, access);
        if_(
            pass == 0,
            [&] {
                for (const std::size_t k : {0, 1}) {
                    solve(at.hessian, g[k]);
                    scatter(g[k], moved[k]);
                }
            },
            [&] {
                solve(at.hessian, g[2]);
                scatter(g[2], moved[2]);
            });
    });
    for (std::size_t k = 0; k < moved.size(); ++k) put(symbols[k], moved[k]);
}

void Derivative::adjoint() {
    const int symbol = t_.derivative(-1, ".a1", true);
    const LocalArray x = fetch(t_.positions, true, false), x_bar = fetch(symbol, true, true),
                     l = t_.vector();
    const DenseMatrix h = factorized(x);
    set(l, 0.0);
    gather(x_bar, l);
    solve(h, l);
    DenseTrace::PointAccess access;
    access.position = [&](Suffix, int c, Int point) { return of_point(x, c, point); };
    access.gradient = [&](Suffix, int c, Int point) { return l[t_.unknown_of(point) + c]; };
    access.add_position = [&](Suffix, int c, Int point, const Float& value) {
        x_bar.add(point * t_.problem.dimension + c, value);
    };
    const std::vector<ir::Kernel> list = kernels(Direction::adjoint);
    start_sums(list);
    each_item(list, access);
    t_.finish_sums();
    set(l, 0.0);
    scatter(l, x_bar);
    put(symbol, x_bar);
}

void Derivative::adjoint_tangent() {
    const int symbol = t_.derivative(-1, ".a1", true),
              symbol_dot = t_.derivative(-1, ".a1.t1", true);
    const LocalArray x = fetch(t_.positions, true, false),
                     x_dot = fetch(t_.derivative(-1, ".t1", false), true, false),
                     x_bar = fetch(symbol, true, true), x_bar_dot = fetch(symbol_dot, true, true),
                     l = t_.vector(), l_dot = t_.vector();
    const DenseMatrix h = factorized(x);
    set(l, 0.0);
    set(l_dot, 0.0);
    gather(x_bar, l);
    solve(h, l);
    DenseTrace::PointAccess access;
    access.position = [&](Suffix suffix, int c, Int point) {
        return of_point(suffix.empty() ? x : x_dot, c, point);
    };
    access.gradient = [&](Suffix suffix, int c, Int point) {
        return (suffix == ".a1" ? l : l_dot)[t_.unknown_of(point) + c];
    };
    access.add_position = [&](Suffix suffix, int c, Int point, const Float& value) {
        (suffix == ".a1" ? x_bar : x_bar_dot).add(point * t_.problem.dimension + c, value);
    };
    const std::vector<ir::Kernel> list = kernels(Direction::adjoint_tangent);
    start_sums(list);
    // First the terms with l, which also add -H_dot l to x_bar_dot; then those with l_dot.
    lang::repeat(2, [&](Int pass) {
        each_item(list, access);
        if_(pass == 0, [&] {
            gather(x_bar_dot, l_dot);
            solve(h, l_dot);
            set(l, 0.0);
        });
    });
    t_.finish_sums();
    set(l, 0.0);
    scatter(l, x_bar);
    scatter(l, x_bar_dot);
    put(symbol, x_bar);
    put(symbol_dot, x_bar_dot);
}

}  // namespace hindcast::dense
