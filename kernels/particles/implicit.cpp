#include "kernels/particles/implicit.hpp"

#include <numeric>

#include "engine/model/implicit/minimized.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::particles {

using namespace lang;
using model::for_dimension;
using model::Integrator;
using model::Model;
using model::Phase;

namespace {

template <int D>
EnergyKernels inertia(bool second_order) {
    using V = Vec<Float, D>;
    return hindcast::energy<D, 1>(
        "inertia", {"number", "target", "mass", "h", "step"},
        [second_order](Int i, const Points<D, 1>& x, Read<Int> number, Read<V> target,
                       Read<Float> mass, Param<Float> h, Param<Int> step) -> Float {
            const Int p = number[i];
            const V d = x[0] - target[p];
            Float a = h.value();
            if (second_order) a = select(step.value() == 0, a, 2.0 / 3.0 * a);
            return 0.5 * mass[p] * dot(d, d) / (a * a);
        });
}

template <int D>
EnergyKernels gravity() {
    using V = Vec<Float, D>;
    return hindcast::energy<D, 1>(
        "gravity", {"number", "mass", "g"},
        [](Int i, const Points<D, 1>& x, Read<Int> number, Read<Float> mass,
           Property<V> g) -> Float { return -mass[number[i]] * dot(g[0], x[0]); });
}

// x~, and the fixed points' way.
template <int D>
KernelDef begin_step(Integrator integrator) {
    using V = Vec<Float, D>;
    return kernel("begin_step",
                  {"v", "w", "h", "step", "x_before", "v_before", "x", "target", "start"},
                  [integrator](Int i, Read<V> v, Read<Float> w, Param<Float> h, Param<Int> step,
                               Read<V> x_before, Read<V> v_before, ReadWrite<V> x, Write<V> target,
                               Write<V> start) {
                      const V now = x[i], speed = v[i];
                      const V ahead = now + h.value() * speed;
                      start[i] = now;
                      x[i] = select(w[i] > 0.0, now, ahead);
                      V aim = ahead;
                      if (integrator == Integrator::bdf2)
                          aim = select(step.value() == 0, ahead,
                                       (4.0 * now - x_before[i]) / 3.0 +
                                           (2.0 / 9.0 * h.value()) * (4.0 * speed - v_before[i]));
                      target[i] = aim;
                  });
}

template <int D>
KernelDef end_step() {
    using V = Vec<Float, D>;
    return kernel(
        "end_step", {"x", "start", "w", "h", "v"},
        [](Int i, Read<V> x, Read<V> start, Read<Float> w, Param<Float> h, ReadWrite<V> v) {
            const V old = v[i];
            v[i] = select(w[i] > 0.0, (x[i] - start[i]) / h.value(), old);
        });
}

template <int D>
KernelDef end_step_of_second_order() {
    using V = Vec<Float, D>;
    return kernel("end_step_bdf2", {"x", "start", "w", "h", "step", "v", "x_before", "v_before"},
                  [](Int i, Read<V> x, Read<V> start, Read<Float> w, Param<Float> h,
                     Param<Int> step, ReadWrite<V> v, ReadWrite<V> x_before, Write<V> v_before) {
                      const V old = v[i], earlier = x_before[i], there = start[i];
                      const V first = (x[i] - there) / h.value(),
                              later = (3.0 * x[i] - 4.0 * there + earlier) / (2.0 * h.value());
                      v[i] = select(w[i] > 0.0, select(step.value() == 0, first, later), old);
                      x_before[i] = there;
                      v_before[i] = old;
                  });
}

template <int D>
KernelDef forget() {
    using V = Vec<Float, D>;
    return kernel("forget_earlier_steps", {"x", "v", "x_before", "v_before"},
                  [](Int i, Read<V> x, Read<V> v, Write<V> x_before, Write<V> v_before) {
                      x_before[i] = x[i];
                      v_before[i] = v[i];
                  });
}

}  // namespace

Array numbers_of(const Model& model, model::Range points) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(points.count));
    std::iota(list.begin(), list.end(), points.first);
    return model.index_array(list, 1);
}

Array start_of_step(Model& model) {
    if (!model.has_array("start_of_step"))
        model.add_array("start_of_step", model.point_count(), model.dimension(),
                        {.unit = "m",
                         .meaning = "position of each point at the start of the step",
                         .internal = true});
    return model.array("start_of_step");
}

EarlierStep earlier_step(Model& model) {
    const auto array = [&](const char* name, const char* unit, const char* meaning) {
        if (!model.has_array(name))
            model.add_array(name, model.point_count(), model.dimension(),
                            {.unit = unit, .meaning = meaning, .state = true, .internal = true});
        return model.array(name);
    };
    return {array("position_before", "m", "position of each point a step earlier"),
            array("velocity_before", "m/s", "velocity of each point a step earlier")};
}

void integrate_implicitly(Model& model) {
    const Integrator integrator = model.options().integrator;
    const bool second = integrator == Integrator::bdf2;
    const Arrays a = arrays(model);
    const std::int64_t n = model.point_count();
    const Array start = start_of_step(model);
    const Array target = model.add_array(
        "target", n, model.dimension(),
        {.unit = "m", .meaning = "where each point would be without any force", .internal = true});

    std::vector<char> fixed = model.shared<FixedPoints>().flags;
    fixed.resize(static_cast<std::size_t>(n), 0);
    for (const Carrier& carrier : model.minimized().carriers())
        for (const std::int64_t p : carrier.points) fixed[static_cast<std::size_t>(p)] = 1;
    std::vector<std::int64_t> free;
    for (std::int64_t p = 0; p < n; ++p)
        if (fixed[static_cast<std::size_t>(p)] == 0) free.push_back(p);
    const auto count = static_cast<std::int64_t>(free.size());
    const Array numbers = model.index_array(free, 1);
    std::vector<EnergyTerm> terms;
    if (integrator != Integrator::quasi_static) {
        std::vector<NamedArgument> arguments{
            {"number", numbers}, {"target", target}, {"mass", a.mass}, {"h", model.step()}};
        if (second) arguments.emplace_back("step", model.step_counter());
        terms.push_back({"inertia",
                         for_dimension(model, [&](auto D) { return inertia<D>(second); }), count,
                         numbers, arguments});
    }
    terms.push_back({"gravity",
                     for_dimension(model, [](auto D) { return gravity<D>(); }),
                     count,
                     numbers,
                     {{"number", numbers},
                      {"mass", a.mass},
                      {"g", model.find_quantity("gravity")->argument()}}});
    const std::vector<EnergyTerm>& added = model.minimized().terms();
    terms.insert(terms.end(), added.begin(), added.end());

    std::vector<NamedArgument> begin{{"v", a.velocity}, {"w", a.inverse_mass}, {"h", model.step()},
                                     {"x", a.position}, {"target", target},    {"start", start}},
        end{{"x", a.position},
            {"start", start},
            {"w", a.inverse_mass},
            {"h", model.step()},
            {"v", a.velocity}};
    if (second) {
        const auto [x_before, v_before] = earlier_step(model);
        for (auto* list : {&begin, &end})
            list->insert(
                list->end(),
                {{"step", model.step_counter()}, {"x_before", x_before}, {"v_before", v_before}});
        model.prologue().add(model.launch(
            for_dimension(model, [](auto D) { return forget<D>(); }), n,
            {{"x", a.position}, {"v", a.velocity}, {"x_before", x_before}, {"v_before", v_before}},
            "forget earlier steps"));
    }
    model.add(Phase::velocity_update,
              model.launch(for_dimension(model, [&](auto D) { return begin_step<D>(integrator); }),
                           n, begin, "begin step"));
    auto minimization = std::make_shared<Minimization>(
        model.options().device, a.position, std::move(fixed), std::move(terms),
        model.options().minimization, "minimization", model.minimized().carriers());
    model.add(Phase::position_update, minimization->launch());
    model.minimized().set(std::move(minimization));
    model.add(Phase::position_update,
              model.launch(for_dimension(model,
                                         [&](auto D) {
                                             return second ? end_step_of_second_order<D>()
                                                           : end_step<D>();
                                         }),
                           n, end, "end step"));
}

}  // namespace hindcast::particles
