#include "engine/runtime/minimization/dense/dense_kernels.hpp"

#include <algorithm>
#include <utility>

#include "engine/ad/differentiate.hpp"
#include "engine/ir/clone.hpp"
#include "engine/runtime/minimization/dense/dense_search.hpp"

namespace hindcast::dense {

using lang::if_;

namespace {

// The derivative of one direction, recorded into a builder.
class Derivative {
public:
    Derivative(DenseTrace& trace, const std::vector<std::string>& active)
        : t_(trace), active_(active) {}

    void tangent(const DenseSearch& search);
    void second_tangent(const DenseSearch& search);
    void adjoint();
    void adjoint_tangent();

private:
    // What varies in a term's gradient.
    std::vector<std::string> varying(const DenseTerm& term) const {
        std::vector<std::string> names;
        for (std::size_t p = 0; p < term.gradient.roles.size(); ++p) {
            const ir::Parameter& parameter = term.gradient.kernel.parameters[p];
            const Role& role = term.gradient.roles[p];
            const bool is_asked_for =
                role.kind == Role::input &&
                (active_.empty() ||
                 std::ranges::find(active_, DenseTrace::name_of(t_.problem, role.input_number)) !=
                     active_.end());
            const bool varies = role.kind == Role::positions || role.kind == Role::output;
            if (ir::is_real(parameter.type) && (varies || is_asked_for))
                names.push_back(parameter.name);
        }
        return names;
    }
    // The kernels of a direction, term by term.
    std::vector<ir::Kernel> kernels(Direction direction) const {
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

    Float of_point(const LocalArray& all, int c, const Int& point) const {
        return all[point * t_.problem.dimension + c];
    }
    void set(const LocalArray& vector, double number) const {
        for (int u = 0; u < t_.problem.rows(); ++u) vector.put(u, number);
    }
    // v = -H^-1 v
    void solve(const DenseMatrix& h, const LocalArray& v) const {
        h.solve(0.0, v);
        t_.each_unknown([&](Int u) { v.put(u, -v[u]); });
    }
    // Of all points, or of the free ones, from a vector of unknowns.
    void scatter(const LocalArray& unknowns, const LocalArray& all) const {
        t_.each_free([&](Int point, Int unknown) {
            for (int c = 0; c < t_.problem.dimension; ++c)
                all.put(point * t_.problem.dimension + c, unknowns[unknown + c]);
        });
    }
    void gather(const LocalArray& all, const LocalArray& unknowns) const {
        t_.each_free([&](Int point, Int unknown) {
            for (int c = 0; c < t_.problem.dimension; ++c)
                unknowns.put(unknown + c, of_point(all, c, point));
        });
    }
    // A derivative of the positions, into memory of the kernel, and back. `free`: of free points too,
    // which else have 0.
    LocalArray fetch(int symbol, bool free, bool exclusive) const {
        LocalArray all = t_.all_points();
        t_.each_point([&](Int point) {
            for (int c = 0; c < t_.problem.dimension; ++c) {
                const Float value =
                    exclusive ? t_.fetch(symbol, c, point) : t_.load(symbol, c, point);
                const lang::Bool fixed = t_.unknown_of(point) == t_.problem.unknowns;
                all.put(point * t_.problem.dimension + c,
                        free ? value : select(fixed, value, Float(0.0)));
            }
        });
        return all;
    }
    void put(int symbol, const LocalArray& all) const {
        t_.each_point([&](Int point) {
            for (int c = 0; c < t_.problem.dimension; ++c)
                t_.put(symbol, c, point, of_point(all, c, point));
        });
    }
    void remove_residual(const DenseSearch& search, const LocalArray& moved) const;
    DenseMatrix factorized(const LocalArray& x) const {
        DenseMatrix h(t_.problem.unknowns, t_.problem.rows());
        t_.hessian(x, h);
        fail_no_minimum(t_, h.factorize(0.0));
        return h;
    }

    DenseTrace& t_;
    const std::vector<std::string>& active_;
};

using Suffix = const std::string&;

// H dx = -(dG/dp dp + dG/dx_fixed dx_fixed)
void Derivative::tangent(const DenseSearch& search) {
    const int symbol = t_.derivative(-1, ".t1", true);
    const LocalArray moved = fetch(symbol, false, true), g = t_.vector();
    set(g, 0.0);
    DenseTrace::PointAccess access;
    access.position = [&](Suffix suffix, int c, Int point) {
        return of_point(suffix.empty() ? search.x() : moved, c, point);
    };
    access.add_gradient = [&](Suffix suffix, int c, Int point, const Float& value) {
        if (!suffix.empty()) g.add(t_.unknown_of(point) + c, value);
    };
    const std::vector<ir::Kernel> list = kernels(Direction::tangent);
    for (std::size_t k = 0; k < list.size(); ++k)
        t_.each_item(t_.problem.terms[k], list[k], access);
    solve(search.hessian(), g);
    scatter(g, moved);
    remove_residual(search, moved);
    put(symbol, moved);
}

// dx -= H^-1 r
void Derivative::remove_residual(const DenseSearch& search, const LocalArray& moved) const {
    if_(t_.number(t_.removes) != 0.0, [&] {
        const LocalArray way = t_.vector();
        t_.each_unknown([&](Int u) { way.put(u, search.gradient()[u]); });
        solve(search.hessian(), way);
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

void Derivative::second_tangent(const DenseSearch& search) {
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
        return of_point(suffix.empty() ? search.x() : moved[number(suffix)], c, point);
    };
    access.add_gradient = [&](Suffix suffix, int c, Int point, const Float& value) {
        if (!suffix.empty()) g[number(suffix)].add(t_.unknown_of(point) + c, value);
    };
    const std::vector<ir::Kernel> list = kernels(Direction::tangent_tangent);
    // First the two tangents, then what they are needed for.
    t_.repeat(2, [&](Int pass) {
        for (const LocalArray& v : g) set(v, 0.0);
        for (std::size_t k = 0; k < list.size(); ++k)
            t_.each_item(t_.problem.terms[k], list[k], access);
        if_(
            pass == 0,
            [&] {
                for (const std::size_t k : {0, 1}) {
                    solve(search.hessian(), g[k]);
                    scatter(g[k], moved[k]);
                }
            },
            [&] {
                solve(search.hessian(), g[2]);
                scatter(g[2], moved[2]);
            });
    });
    for (std::size_t k = 0; k < moved.size(); ++k) put(symbols[k], moved[k]);
}

// l = H^-1 x_bar; p_bar -= l . dG/dp, and the same of the positions that are not free.
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
    for (std::size_t k = 0; k < list.size(); ++k) t_.start_sums(t_.problem.terms[k], list[k]);
    for (std::size_t k = 0; k < list.size(); ++k)
        t_.each_item(t_.problem.terms[k], list[k], access);
    t_.finish_sums();
    set(l, 0.0);
    scatter(l, x_bar);
    put(symbol, x_bar);
}

// The tangent of adjoint(): l_dot = H^-1 (x_bar_dot - H_dot l), and so on.
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
    for (std::size_t k = 0; k < list.size(); ++k) t_.start_sums(t_.problem.terms[k], list[k]);
    // What l adds, -H_dot l to x_bar_dot with it; then what is proportional to l_dot.
    t_.repeat(2, [&](Int pass) {
        for (std::size_t k = 0; k < list.size(); ++k)
            t_.each_item(t_.problem.terms[k], list[k], access);
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

}  // namespace

DenseKernels::DenseKernels(DenseProblem problem)
    : problem_(std::move(problem)), outcomes_(ir::Type::f64, {Outcomes::size}) {}

std::vector<Argument> DenseKernels::arguments() const {
    std::vector<Argument> list{problem_.positions};
    for (const DenseInput& input : problem_.inputs) list.push_back(input.argument);
    list.insert(list.end(), {problem_.free_points, problem_.unknown_of, outcomes_, 0.0});
    return list;
}

ir::Kernel DenseKernels::kernel(Direction direction, const std::vector<std::string>& active) const {
    ir::Builder builder("minimisation", problem_.precision);
    const bool back = goes_back(direction);
    {
        const lang::Tracing tracing(builder);
        const lang::RealScope real(ir::Type::f64);
        DenseTrace trace(problem_, builder, back);
        Derivative derivative(trace, active);
        if (back) {
            direction == Direction::adjoint ? derivative.adjoint() : derivative.adjoint_tangent();
        } else {
            DenseSearch search(trace, direction != Direction::forward);
            search.record();
            if (direction == Direction::tangent) derivative.tangent(search);
            if (direction == Direction::tangent_tangent) derivative.second_tangent(search);
        }
    }
    const bool once = direction == Direction::tangent || direction == Direction::adjoint_tangent;
    builder.set_orders(back ? 1 : 0, direction == Direction::tangent_tangent ? 2 : once ? 1 : 0);
    ir::Kernel kernel = ir::simplify(builder.finish(), true);
    ir::verify(kernel, "recording a minimisation");
    return kernel;
}

// ---------------------------------------------------------------- what became of it

MinimizationOutcome Outcomes::last(const Array& of) {
    const auto at = [&](int k) { return of.value(k); };
    return {.iterations = static_cast<int>(at(last_iterations)),
            .projected = static_cast<int>(at(last_projected)),
            .refused = static_cast<int>(at(last_refused)),
            .energy = at(last_energy),
            .scale = at(last_scale),
            .gain = at(last_gain),
            .residual = at(last_residual),
            .step = at(last_step)};
}

MinimizationTotals Outcomes::all(const Array& of) {
    const auto at = [&](int k) { return of.value(k); };
    return {.solves = static_cast<std::int64_t>(at(solves)),
            .all = {.iterations = static_cast<int>(at(iterations)),
                    .projected = static_cast<int>(at(projected)),
                    .refused = static_cast<int>(at(refused)),
                    .energy = at(energy),
                    .scale = at(scale),
                    .gain = at(gain),
                    .residual = at(residual),
                    .step = at(step)},
            .most_iterations = static_cast<int>(at(most_iterations))};
}

RemovedResiduals Outcomes::removed_residuals(const Array& of) {
    return {static_cast<std::int64_t>(of.value(removed_solves)), of.value(removed_distance)};
}

void Outcomes::clear(const Array& of) { of.clear(); }

void Outcomes::clear_removed(const Array& of) {
    std::vector<double> numbers = of.to_doubles();
    numbers[removed_solves] = numbers[removed_distance] = 0;
    of.assign(numbers);
}

}  // namespace hindcast::dense
