// A small roll-out with everything in it: a prologue, steps that overwrite the state, an event that
// sums, and a gradient by a number and by the initial state.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/arrays.hpp"

namespace hindcast::test {

// A damped rotation, and the sum of squares of what it came to.
inline const lang::KernelDef advance = lang::kernel(
    "advance", {"rate", "x"},
    [](lang::Int i, lang::Param<lang::Float> rate, lang::ReadWrite<lang::Vec2> x) {
        const lang::Vec2 before = x[i];
        x[i] = lang::Vec2(before.x() + rate * before.y(), before.y() - rate * sin(before.x()));
    });
inline const lang::KernelDef squares =
    lang::kernel("squares", {"x", "sum"},
                 [](lang::Int i, lang::Read<lang::Vec2> x, lang::Reduce<lang::Float> sum) {
                     sum += dot(x[i], x[i]);
                 });

struct Pendulums {
    Array start, x, sum, rate;
    std::vector<Launch> launches;
    std::unique_ptr<Rollout> rollout;

    Pendulums(const std::shared_ptr<Device>& device, std::int64_t steps)
        : start(ir::Type::f64, {40, 2}),
          x(ir::Type::f64, {40, 2}),
          sum(ir::Type::f64, {1}),
          rate(array({0.1})) {
        for (std::int64_t i = 0; i < 40; ++i) start.set_value(i, 0, 0.05 * static_cast<double>(i));
        Rollout::Parts parts;
        parts.steps = steps;
        parts.prologue.add_copy(device, x, start);
        parts.step.add(Launch(device, advance, ir::Precision::f64, 40, {rate, x}));
        parts.events[steps].add(Launch(device, squares, ir::Precision::f64, 40, {x, sum}));
        for (const Program* program : {&parts.prologue, &parts.step, &parts.events[steps]})
            for (const Launch& launch : program->launches()) launches.push_back(launch);
        rollout = std::make_unique<Rollout>(device, std::move(parts));
    }
    // The loss, the gradients by rate and by start.
    std::vector<double> run(double seed = 1) {
        rollout->forward(true);
        rollout->backward({{sum, seed}});
        std::vector<double> all = {sum.value(0), rate.gradient().value(0)};
        const std::vector<double> by_start = start.gradient().to_doubles();
        all.insert(all.end(), by_start.begin(), by_start.end());
        return all;
    }
};

}  // namespace hindcast::test
