#include "engine/sim/runs/batch_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/lang/kernel.hpp"
#include "engine/model/settling.hpp"
#include "engine/sim/runs/member_values.hpp"
#include "engine/sim/variation.hpp"

namespace hindcast::runs {

namespace {

template <class T>
lang::KernelDef copy_of(const char* name) {
    return lang::kernel(
        name, {"from", "to"},
        [](lang::Int i, lang::Read<T> from, lang::Write<T> to) { to[i] = from[i]; });
}

void add_copy(Program& program, const std::shared_ptr<Device>& device, const Array& to,
              const Array& from) {
    if (ir::is_real(to.type())) return program.add_copy(device, to, from);
    using lang::Int;
    static const lang::KernelDef kernels[] = {copy_of<Int>("copy_i1"),
                                              copy_of<lang::Vec<Int, 2>>("copy_i2"),
                                              copy_of<lang::Vec<Int, 3>>("copy_i3")};
    if (to.type() != ir::Type::i32 || to.components() > 3)
        throw Error("the state of this scene holds integers that a window cannot begin with")
            .remedy("take gradients from the start: SceneBatch::gradients()");
    program.add(Launch(device, kernels[to.components() - 1], ir::Precision::f32, to.elements(),
                       {from, to}));
}

const lang::KernelDef& next_step() {
    static const lang::KernelDef kernel =
        lang::kernel("next_step", {"step"},
                     [](lang::Int i, lang::ReadWrite<lang::Int> step) { step[i] = step[i] + 1; });
    return kernel;
}

}  // namespace

// ---------------------------------------------------------------- making

void BatchWindows::make(Worker& worker, const SceneRuns::Set& of) const {
    SimulationOptions options = of.made->simulation->options();
    if (batch_.workers() > 1) {
        DeviceOptions one = options.device->options();
        one.threads = 1;
        options.device = std::make_shared<Device>(one);
    }
    worker.simulation = of.made->simulation->copy(options);
    model::Model& model = worker.simulation->model();
    Varying varies;
    for (const SceneRuns::Leaf& leaf : of.leaves)
        varies.insert(model.find_quantity(leaf.quantity->path)->array.data());
    for (const auto& [state, copy] : worker.simulation->rollout().copy_state(0).arrays) {
        worker.states.push_back(state);
        worker.inputs.push_back(copy);
        if (state.size() == 0) continue;
        if (ir::is_real(state.type())) varies.insert(state.data());
        add_copy(worker.load, options.device, state, copy);
    }
    const Program& settling = model.shared<model::Settling>().program;
    worker.load.append(settling);
    std::vector<Program> programs{model.prologue(), settling, model.step_program()};
    for (const auto& [t, program] : model.events()) programs.push_back(program);
    differentiate_what_varies(programs, std::move(varies));
    for (const Program& program : programs)
        for (const Launch& launch : program.launches())
            for (const Array& array : launch.arrays())
                worker.counts |= array && array.same_memory(model.step_counter());
    worker.begin = Array(ir::Type::i32, {1});
    if (worker.counts) add_copy(worker.load, options.device, model.step_counter(), worker.begin);
}

BatchWindows::Set& BatchWindows::set_of(const std::vector<std::string>& paths,
                                        const SceneRuns::Set& of) {
    const auto found = std::ranges::find(sets_, paths, &Set::paths);
    if (found != sets_.end()) {
        sets_.splice(sets_.begin(), sets_, found);
        return sets_.front();
    }
    Set fresh{paths, std::vector<Worker>(batch_.workers())};
    for (Worker& worker : fresh.workers) make(worker, of);
    sets_.push_front(std::move(fresh));
    if (sets_.size() > most_sets) sets_.pop_back();
    return sets_.front();
}

BatchWindows::Window& BatchWindows::window_of(Worker& worker, std::int64_t begin,
                                              std::int64_t steps) const {
    model::Model& model = worker.simulation->model();
    Rollout::Parts parts;
    for (const auto& [t, program] : model.events())
        if (t > begin && t <= begin + steps) parts.events[t - begin] = program;
    const std::int64_t key = parts.events.empty() && !worker.counts ? -1 : begin;
    const auto found = std::ranges::find_if(worker.windows, [&](const Window& window) {
        return window.steps == steps && window.begin == key;
    });
    if (found != worker.windows.end()) {
        worker.windows.splice(worker.windows.begin(), worker.windows, found);
        return worker.windows.front();
    }
    const std::shared_ptr<Device>& device = worker.simulation->options().device;
    parts.prologue = model.prologue();
    parts.prologue.append(worker.load);
    parts.step = model.step_program();
    if (worker.counts)
        parts.step.add(Launch(device, next_step(), ir::Precision::f32, 1, {model.step_counter()}));
    parts.steps = steps;
    Window window{steps, key, std::make_unique<Rollout>(device, std::move(parts)), -1};
    const std::int64_t limit = batch_.runs_.simulation().rollout().memory_limit();
    window.rollout->limit_memory(
        {.bytes = limit == MemoryBudget::unlimited
                      ? limit
                      : limit / static_cast<std::int64_t>(batch_.workers())});
    worker.windows.push_front(std::move(window));
    if (worker.windows.size() > most_windows) worker.windows.pop_back();
    return worker.windows.front();
}

// ---------------------------------------------------------------- running

void BatchWindows::run(Worker& worker, std::size_t m, const SceneBatch::Pull& wanted,
                       const SceneRuns::Set& set, SceneBatch::Gradients& result) const {
    const SceneBatch::Member& member = batch_.members_[m];
    Simulation& simulation = *worker.simulation;
    model::Model& model = simulation.model();
    const std::int64_t substeps = batch_.substeps(), begin = member.state.step,
                       steps = std::min(wanted.steps * substeps, batch_.steps() * substeps - begin);
    batch_.values_->apply(simulation, m);
    for (std::size_t k = 0; k < worker.inputs.size(); ++k)
        worker.inputs[k].copy_from(member.state.arrays[k].second);
    worker.begin.store(static_cast<std::int32_t>(begin));
    model.step_counter().store(0);
    Window& window = window_of(worker, begin, steps);
    Rollout& rollout = *window.rollout;
    const auto start = std::chrono::steady_clock::now();
    const bool is_long = batch_.runs_.is_long(window.took);
    Rollout::Watch watch;
    if (is_long) watch = [&](std::int64_t) { return batch_.goes_on(); };
    if (rollout.forward(true, watch) < steps) return;  // interrupted
    std::vector<Rollout::Seed> seeds;
    double loss = 0;
    for (const model::Term& term : model.terms()) {
        loss += term.weight * term.value.value(0);
        seeds.push_back({term.value, wanted.loss_weight * term.weight});
    }
    result.losses[m] = loss;
    for (const SceneBatch::Given& cotangent : wanted.cotangents) {
        const Array& state = worker.states[batch_.places_.at(cotangent.name)];
        const auto n = static_cast<std::size_t>(state.size());
        const auto first = cotangent.numbers.begin() + static_cast<std::ptrdiff_t>(m * n);
        seeds.push_back({state, 1, {first, first + static_cast<std::ptrdiff_t>(n)}});
    }
    struct Watching {
        Rollout& rollout;
        ~Watching() { rollout.watch_adjoints({}); }
    } const watching{rollout};
    if (is_long)
        rollout.watch_adjoints([&](std::int64_t) {
            if (!batch_.goes_on()) throw Interrupted();
        });
    rollout.backward(seeds);
    window.took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::size_t l = 0; l < wanted.paths.size(); ++l) {
        const SceneRuns::Leaf& leaf = set.leaves[l];
        const std::vector<double> part =
            model.find_quantity(leaf.quantity->path)->array.gradient().values_at(leaf.entries);
        std::ranges::copy(
            part, result.by_path[l].begin() + static_cast<std::ptrdiff_t>(m * leaf.entries.size()));
    }
    for (std::size_t s = 0; s < wanted.states.size(); ++s) {
        const std::vector<double> part =
            worker.inputs[batch_.places_.at(wanted.states[s])].gradient().to_doubles();
        std::ranges::copy(
            part, result.by_state[s].begin() + static_cast<std::ptrdiff_t>(m * part.size()));
    }
}

SceneBatch::Gradients BatchWindows::pull_back(const SceneBatch::Pull& wanted) {
    if (wanted.steps < 0)
        throw ArgumentFault(fmt::format("steps: {} is no number of steps", wanted.steps));
    for (const SceneBatch::Given& cotangent : wanted.cotangents) {
        const std::size_t n = batch_.size_of(cotangent.name, "cotangents");
        if (cotangent.numbers.size() != n * batch_.size())
            throw ArgumentFault(
                fmt::format("cotangents: '{}' is {} numbers for each of {} members,"
                            " and {} are given",
                            cotangent.name, n, batch_.size(), cotangent.numbers.size()));
    }
    const std::vector<std::string> paths = batch_.values_->with_varied(wanted.paths);
    const SceneRuns::Set& set = batch_.runs_.set_of(paths);
    Set& made = set_of(paths, set);
    SceneBatch::Gradients result;
    result.losses.assign(batch_.size(), nan);
    for (std::size_t l = 0; l < wanted.paths.size(); ++l) {
        result.by_path.emplace_back(batch_.size() * set.leaves[l].entries.size(), nan);
        result.shapes.push_back(set.leaves[l].shape);
    }
    for (const std::string& name : wanted.states) {
        const std::size_t n = batch_.size_of(name, "states");
        result.by_state.emplace_back(batch_.size() * n, nan);
        result.state_shapes.push_back(
            Frames::shape_of(batch_.members_[0].state.arrays[batch_.places_.at(name)].second));
    }
    std::vector<std::size_t> which;  // those that have diverged keep NaN
    for (std::size_t m = 0; m < batch_.size(); ++m)
        if (!batch_.members_[m].diverged) which.push_back(m);
    batch_.each(which, [&](std::size_t worker, std::size_t m) {
        run(made.workers[worker], m, wanted, set, result);
    });
    return result;
}

}  // namespace hindcast::runs
