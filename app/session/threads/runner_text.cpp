// What launches become, as text: IR, code for the CPU, CUDA C++.
//
// A launch that was timed is known by its name and direction. Its own direction's text is that of
// the kernel that ran, also where several were joined into one (fusion.hpp). Other directions of
// joined launches do not exist as kernels: those of the launches they were joined of are given, one
// after the other.
#include <algorithm>
#include <iterator>

#include "app/session/threads/runner.hpp"

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

void Runner::answer_texts() {
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

void Runner::answer(const LaunchText& command) {
    auto answer = std::make_shared<LaunchTextAnswer>();
    answer->asked = command;
    try {
        const auto profiles = now_.simulation->rollout().profiles();
        const auto timed = std::ranges::find_if(profiles, [&](const Rollout::Profile& p) {
            return p.launch == command.launch && p.direction == command.ran;
        });
        if (timed == profiles.end())
            throw Error("the scene as it is now has not run '" + command.launch + "' (" +
                        name_of(command.ran) + ")")
                .remedy("measure the launches once more");
        if (timed->direction == command.direction) {
            answer->text = launch_text(timed->replay, command.what);
        } else {
            const std::vector<hindcast::Launch> all = launches_of(*now_.simulation);
            std::vector<std::string> names = parts_of(command.launch);
            if (goes_back(timed->direction) != goes_back(command.direction))
                std::ranges::reverse(names);
            bool any = false;
            for (const std::string& name : names) {
                const auto launch =
                    std::ranges::find(all, name, [](const auto& l) { return l.description(); });
                if (launch == all.end()) throw Error("the scene has no launch '" + name + "'");
                if (command.direction != Direction::forward && !launch->has_derivative()) continue;
                answer->text +=
                    (any ? "\n" : "") + launch_text(*launch, command.direction, command.what);
                any = true;
            }
            if (!any)
                throw Error(
                    "nothing that this launch computes depends on a parameter: there is "
                    "no " +
                    std::string(name_of(command.direction)));
        }
    } catch (const Error& error) {
        answer->problem = error.what();
    }
    const Lock lock(shared_.mutex);
    shared_.draft.launch_text = std::move(answer);
    shared_.mark_changed();
}

}  // namespace hindcast::session
