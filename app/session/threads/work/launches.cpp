#include "app/session/threads/work/launches.hpp"

#include <algorithm>
#include <iterator>

namespace hindcast::session {

namespace {

constexpr const char* joint = " + ";  // between the names of joined launches

std::vector<std::string> parts_of(const std::string& name) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t at = name.find(joint); at != std::string::npos; at = name.find(joint, from)) {
        parts.push_back(name.substr(from, at - from));
        from = at + std::string_view(joint).size();
    }
    parts.push_back(name.substr(from));
    return parts;
}

std::vector<hindcast::Launch> launches_of(Simulation& simulation) {
    model::Model& model = simulation.model();
    std::vector<hindcast::Launch> all;
    const auto add = [&all](const Program& program) {
        std::ranges::copy(program.launches(), std::back_inserter(all));
    };
    add(model.prologue());
    add(model.step_program());
    for (const auto& [time, program] : model.events()) add(program);
    return all;
}

}  // namespace

void Launches::set_profiling(bool on) {
    profiling_ = on;
    state_.now.simulation->rollout().profile(on);
    if (!on) return;
    // The current trajectory runs once more: an iteration stays that iteration.
    TrajectoryPointer t;
    {
        const Lock lock(shared_.mutex);
        t = shared_.current;
    }
    const bool of_iteration =
        t && t->iteration >= 0 && t->scene == state_.now.scene && t->base == state_.base;
    if (!of_iteration) return trajectories_.show_current();
    t = trajectories_.make(t->scene, t->iteration, t->base, t->parameters);
    const Lock lock(shared_.mutex);
    shared_.current = t;
    shared_.trajectories.put(t->iteration, t);
    shared_.history.changed = true;
    shared_.mark_changed();
}

void Launches::publish_times() {
    if (!profiling_ || !state_.now.simulation) return;
    std::vector<LaunchInfo> launches;
    for (const Rollout::Profile& p : state_.now.simulation->rollout().profiles())
        launches.push_back({p.launch, p.direction, p.runs, p.seconds, p.replay.bytes()});
    const Lock lock(shared_.mutex);
    shared_.draft.tools.launches = std::move(launches);
    shared_.mark_changed();
}

void Launches::answer_waiting() {
    std::vector<Command> asked;
    {
        const Lock lock(shared_.mutex);
        const auto at = std::stable_partition(
            shared_.runner_commands.begin(), shared_.runner_commands.end(),
            [](const Command& c) { return !std::holds_alternative<LaunchText>(c); });
        std::move(at, shared_.runner_commands.end(), std::back_inserter(asked));
        shared_.runner_commands.erase(at, shared_.runner_commands.end());
    }
    for (const Command& command : asked) answer(std::get<LaunchText>(command));
}

void Launches::answer(const LaunchText& command) {
    auto answer = std::make_shared<LaunchTextAnswer>();
    answer->asked = command;
    try {
        answer->text = text_of(command);
    } catch (const Error& error) {
        answer->problem = error.what();
    }
    const Lock lock(shared_.mutex);
    shared_.draft.tools.launch_text = std::move(answer);
    shared_.mark_changed();
}

std::string Launches::text_of(const LaunchText& command) const {
    const auto profiles = state_.now.simulation->rollout().profiles();
    const auto timed = std::ranges::find_if(profiles, [&](const Rollout::Profile& p) {
        return p.launch == command.launch && p.direction == command.ran;
    });
    if (timed == profiles.end())
        throw Error("the scene as it is now has not run '" + command.launch + "' (" +
                    name_of(command.ran) + ")")
            .remedy("measure the launches once more");
    if (timed->direction == command.direction) return launch_text(timed->replay, command.what);
    const std::vector<hindcast::Launch> all = launches_of(*state_.now.simulation);
    std::vector<std::string> names = parts_of(command.launch);
    if (goes_back(timed->direction) != goes_back(command.direction)) std::ranges::reverse(names);
    std::string text;
    bool any = false;
    for (const std::string& name : names) {
        const auto launch =
            std::ranges::find(all, name, [](const auto& l) { return l.description(); });
        if (launch == all.end()) throw Error("the scene has no launch '" + name + "'");
        if (command.direction != Direction::forward && !launch->has_derivative()) continue;
        text += (any ? "\n" : "") + launch_text(*launch, command.direction, command.what);
        any = true;
    }
    if (!any)
        throw Error("nothing that this launch computes depends on a parameter: there is no " +
                    std::string(name_of(command.direction)));
    return text;
}

}  // namespace hindcast::session
