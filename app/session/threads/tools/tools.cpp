#include "app/session/threads/tools/tools.hpp"

#include <cmath>
#include <utility>

#include "engine/sim/gradients/gradient_check.hpp"

namespace hindcast::session {

void Tools::check_gradient() {
    state_.activity.set(Activity::simulating, "checking the gradient");
    const Input of = input();
    GradientCheckOptions wanted;
    wanted.at = *of.parameters;
    wanted.go_on = [&](std::int64_t done, std::int64_t total) {
        state_.activity.set(
            Activity::simulating, "checking the gradient",
            total > 0 ? static_cast<double>(done) / static_cast<double>(total) : -1);
        return !interrupts_.stops_run();
    };
    const GradientReport report = check_gradients(
        Scene::of(*of.document, state_.file), state_.registry, state_.options.simulation, wanted);
    auto rows = std::make_shared<std::vector<CheckRow>>();
    for (const GradientReport::Entry& e : report.entries)
        rows->push_back(
            {e.name, e.adjoint, e.difference, e.error, e.passed(), to_string(e.verdict)});
    std::size_t number = 0;
    for (const GradientReport::Direction& d : report.directions)
        rows->push_back({"direction " + std::to_string(++number), d.adjoint, d.difference, d.error,
                         d.passed() && d.forward_passed,
                         d.forward_passed ? to_string(d.verdict) : "modes differ"});
    const Lock lock(shared_.mutex);
    shared_.draft.tools.check = std::move(rows);
    shared_.draft.tools.check_at = of.parameters;
    if (report.stopped)
        shared_.log(LogLine::Level::warning, "the gradient check was stopped");
    else if (report.passed())
        shared_.log(LogLine::Level::information, "the gradient check has passed");
    for (const std::string& failure : report.failures())
        shared_.log(LogLine::Level::warning, "gradient check: " + failure);
    for (const std::string& note : report.notes())
        shared_.log(LogLine::Level::information, "gradient check: " + note);
    shared_.mark_changed();
}

void Tools::probe_gradients(const TrajectoryPointer& at) {
    {
        const Lock lock(shared_.mutex);
        if (!shared_.wanted.probed_gradients || !at->complete || at->scene != state_.now.scene ||
            at->base != state_.base || !at->scene->has_objective || !std::isfinite(at->loss) ||
            (shared_.probed_gradients && shared_.probed_gradients->is_of(*at)))
            return;
    }
    gradient_probe_.start(*at, *state_.document, state_.file, state_.registry,
                          state_.options.simulation);
}

void Tools::start_scan(const Scan& command) {
    const Input of = input();
    loss_scan_.start(command, Scene::of(*of.document, state_.file), state_.registry,
                     state_.options.simulation, *of.parameters);
}

void Tools::cancel() {
    loss_scan_.cancel();
    gradient_probe_.cancel();
}

Tools::Input Tools::input() const {
    const Lock lock(shared_.mutex);
    const TrajectoryPointer& t = shared_.shown ? shared_.shown : shared_.current;
    if (t && t->parameters) {
        const SceneRevisionPointer revision = shared_.history.revision_of(t->iteration);
        if (revision && revision->scene == t->scene) return {revision->document, t->parameters};
        if (t->scene == state_.now.scene) return {state_.document, t->parameters};
    }
    return {state_.document, state_.values};
}

}  // namespace hindcast::session
