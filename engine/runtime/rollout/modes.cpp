// The modes of a roll-out: their schedules, made when they are first needed.
#include "engine/runtime/rollout/modes.hpp"

#include <limits>
#include <utility>

#include "engine/backend/optional_passes.hpp"

namespace hindcast {

// ---------------------------------------------------------------- set-up

RolloutModes::RolloutModes(RolloutSteps& steps, Rollout::Parts parts)
    : steps_(steps), parts_(std::move(parts)) {
    if (parts_.steps < 0)
        throw Error("a roll-out of " + std::to_string(parts_.steps) + " steps is not possible");
    for (const auto& [t, program] : parts_.events)
        if (t < 0 || t > parts_.steps)
            throw Error("an event after step " + std::to_string(t) + " of a roll-out of " +
                        std::to_string(parts_.steps) + " steps");
}

void RolloutModes::set_step_counter(const Array& counter) {
    if (counter.type() != ir::Type::i32 || counter.size() != 1)
        throw Error("a step counter is one i32")
            .remedy("make it with Rollout::make_step_counter()");
    if (parts_.steps > std::numeric_limits<std::int32_t>::max())
        throw Error("a roll-out of " + std::to_string(parts_.steps) +
                    " steps is too long for a step counter");
    counter_ = counter;
    steps_.launches.use_counter(counter);
    modes_.clear();
}

void RolloutModes::stop_if_not_finite(std::vector<Array> arrays, std::int64_t every) {
    steps_.finite.set(std::move(arrays), every);
    for (auto& [mode, m] : modes_) {
        m->whole.reset();
        m->graphs.reset();
        m->timeline.check_finite(steps_.finite.arrays(), every);
    }
}

void RolloutModes::set_horizon(std::int64_t steps) {
    if (steps < 0) throw Error("a horizon of " + std::to_string(steps) + " steps");
    if (steps == horizon_) return;
    horizon_ = steps;
    modes_.clear();
}

void RolloutModes::forget_graphs() {
    for (auto& [mode, m] : modes_) m->graphs.reset();
}

const ModeState* RolloutModes::find(RolloutMode mode) const {
    const auto found = modes_.find(mode);
    return found == modes_.end() ? nullptr : found->second.get();
}

// A checked run, and the interpreter, which is the definition, go launch by launch.
PassSet RolloutModes::passes() const {
    const DeviceOptions& options = steps_.device->options();
    const PassSet on = options.passes;
    return options.kind == DeviceKind::interpreter || options.checked
               ? on.without(Pass::fusion).without(Pass::rotation)
               : on;
}

ModeState& RolloutModes::mode_for(RolloutMode mode, bool backward) {
    std::unique_ptr<ModeState>& entry = modes_[mode];
    if (!entry || (backward && !entry->schedule->has_backward) || entry->schedule->out_of_date()) {
        const PassSet on = passes();
        auto schedule = make_schedule(parts_.prologue, parts_.step, parts_.steps, parts_.events,
                                      mode, backward, horizon_, on);
        schedule->each_call([&](const Call& call) {
            const Launch& launch = call.forward.launch();
            if (launch.device()->cuda() != steps_.device->cuda())
                throw Error("a launch works in the memory of another device than its roll-out, " +
                            launch.device()->describe() + " and " + steps_.device->describe())
                    .in_kernel(launch.description())
                    .remedy("move the launch to the roll-out's device");
        });
        entry = std::make_unique<ModeState>(mode, std::move(schedule), counter_, *steps_.device);
        entry->timeline.check_finite(steps_.finite.arrays(), steps_.finite.every());
        if (on.has(Pass::rotation) && mode == RolloutMode::first && !steps_.device->cuda())
            entry->rotation = StepRotation::make(*entry->schedule, counter_);
        // Functions of steps read what rotated steps do not keep.
        if (entry->rotation && backward && steps_.may_compile_back(*entry)) entry->rotation.reset();
        // So that all code is made together.
        if (steps_.device->cuda() ||
            steps_.device->options().whole_program != WholeProgramUse::always)
            entry->schedule->each_call([&](const Call& call) {
                call.forward.prepare();
                if (!backward || !call.differentiable) return;
                std::vector<int> kept;
                for (const Restore& r : call.restores) kept.push_back(r.parameter);
                call.backward.prepare(kept);
            });
    }
    return *entry;
}

// ---------------------------------------------------------------- for people

std::string RolloutModes::describe() const {
    const PassSet wanted = passes();
    PassSet on = PassSet::none();
    std::string all, last;
    const auto show = [&](const std::string& title) {
        const auto schedule = make_schedule(parts_.prologue, parts_.step, parts_.steps,
                                            parts_.events, RolloutMode::first, true, horizon_, on);
        const Timeline timeline(*schedule, counter_);
        std::string text = timeline.describe();
        if (on.has(Pass::rotation))
            if (const auto rotation = StepRotation::make(*schedule, counter_))
                text += rotation->describe();
        all += (all.empty() ? "" : "\n") + title +
               (text == last ? ": nothing changes\n" : "\n\n" + text);
        last = text;
    };
    show("as recorded, with what adjoints need kept");
    for (const Pass pass :
         {Pass::rematerialization, Pass::sparse_history, Pass::fusion, Pass::rotation}) {
        if (!wanted.has(pass)) continue;
        on = on.with(pass);
        show(std::string("after ") + info(pass).name);
    }
    return all;
}

}  // namespace hindcast
