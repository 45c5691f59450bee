#include "app/session/threads/work/pull_run.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/model/handles/grips.hpp"

namespace hindcast::session {

namespace {

constexpr auto longest_lag = std::chrono::milliseconds(100);  // that is made up for

std::string unused_name(const Scene& scene) {
    std::set<std::string> names;
    for (const Scene::Object& object : scene.objects()) names.insert(object.name);
    std::string name = "pull";
    for (int k = 2; names.contains(name); ++k) name = "pull_" + std::to_string(k);
    return name;
}

double distance(const render::Vec3& a, const render::Vec3& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// From the masses of the body's points in a run that has begun.
PullSpring spring_for(Simulation& simulation, const std::string& name, model::Range body,
                      std::int64_t point) {
    const auto fixed = [] {
        return Error("this point is fixed: nothing can pull it away")
            .remedy("pull on another point of the body");
    };
    if (const model::Grips* const grips = model::grips_of(simulation.model(), name)) {
        const model::GripMasses felt = grips->masses(point);
        if (!(felt.least > 0)) throw fixed();
        return pull_spring(felt.least, felt.all, simulation.model().step());
    }
    const std::vector<double> mass = simulation.model().array("mass").to_doubles();
    const std::vector<double> inverse = simulation.model().array("inverse_mass").to_doubles();
    double sum = 0;
    for (std::int64_t p = body.first; p < body.first + body.count; ++p)
        if (inverse[static_cast<std::size_t>(p)] > 0) sum += mass[static_cast<std::size_t>(p)];
    const auto grabbed = static_cast<std::size_t>(body.first + point);
    if (!(inverse[grabbed] > 0)) throw fixed();
    return pull_spring(mass[grabbed], sum, simulation.model().step());
}

}  // namespace

bool PullRun::must_end() const {
    const SharedState& d = shared_;
    return d.ends || !d.mouse_pull ||
           std::ranges::any_of(d.runner_commands, [](const Command& command) {
               const auto* const apply = std::get_if<Apply>(&command);
               return (apply != nullptr && apply->fresh) || std::holds_alternative<Reset>(command);
           });
}

bool PullRun::wait_for_mouse(Clock::time_point& due) {
    for (;;) {
        frames_.serve_playback();
        Lock lock(shared_.mutex);
        interrupts_.see_requests();
        if (must_end()) {
            if (shared_.mouse_pull) shared_.mouse_pull->kept = false;
            return false;
        }
        if (!shared_.mouse_pull || !shared_.mouse_pull->held) return false;
        const Clock::time_point now = Clock::now();
        const double speed = shared_.mouse_pull->speed;
        if (speed <= 0 || now >= due) {
            due = std::max(due, now - longest_lag);
            if (speed > 0)
                due += std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(state_.now.scene->step_seconds / speed));
            return true;
        }
        if (!shared_.frame_requests.job) shared_.runner_wakes.wait_until(lock, due);
    }
}

void PullRun::run(const Grab& grab) {
    try {
        follow_mouse(grab);
    } catch (const Error& error) {
        const Lock lock(shared_.mutex);
        shared_.fail(error);
    }
    frames_.forget_arrays();  // arrays of the simulation with the pull
}

std::optional<PullRun::Grabbed> PullRun::find_grabbed(const Grab& grab) {
    const Lock lock(shared_.mutex);
    if (!shared_.mouse_pull || shared_.mouse_pull->number != grab.number ||
        !shared_.mouse_pull->held)
        return std::nullopt;
    Grabbed found;
    const TrajectoryPointer& shown = shared_.shown;
    if (shown && shown->scene != state_.now.scene && shown->iteration >= 0)
        throw Error("what is shown is an iteration of the scene before an edit")
            .remedy("show the newest iteration, or branch from this one (B), and pull then");
    if (!shown || shown->scene != state_.now.scene)
        throw Error("the scene was changed just now, and what is shown is of the one before")
            .remedy("pull once it runs");
    const IterationInfo* const row =
        shared_.wanted.iteration ? shared_.history.row_of(*shared_.wanted.iteration) : nullptr;
    if (row != nullptr && (!row->parameters || *row->parameters != *state_.values))
        throw Error(
            "what is shown is an older iteration, with other parameters than those "
            "that stand")
            .remedy("show the newest iteration, or branch from this one (B), and pull then");
    found.path.start_step = shared_.mouse_pull->start_step;
    if (found.path.start_step >= state_.now.scene->steps)
        throw Error("the time of the scene is over: there is no step to pull in")
            .remedy("go back in time, or give the scene more steps");
    const FramePointer frame = shown->frame_at(found.path.start_step);
    const auto nearest = std::ranges::min_element(grab.points, {}, [&](std::int64_t p) {
        return distance(place_of(*frame, *shown, p), grab.place);
    });
    if (nearest == grab.points.end()) throw Error("nothing was grabbed");
    shared_.mouse_pull->scene_point = found.scene_point = *nearest;
    for (const auto& [name, range] : state_.now.simulation->model().bodies_with_points())
        if (*nearest >= range.first && *nearest < range.first + range.count) {
            found.body = range;
            found.path.body = name;
            found.path.point = *nearest - range.first;
        }
    return found;
}

void PullRun::follow_mouse(const Grab& grab) {
    struct LetGo {  // however this ends
        SharedState& shared;
        ~LetGo() {
            const Lock lock(shared.mutex);
            shared.mouse_pull.reset();
            shared.growing = nullptr;
            shared.mark_changed();
        }
    } const release{shared_};
    std::optional<Grabbed> found = find_grabbed(grab);
    if (!found) return;
    PullPath path = std::move(found->path);
    const std::string point_name = path.body + " point " + std::to_string(path.point);
    state_.activity.set(Activity::building, "pulling " + point_name);
    path.dimension = state_.now.simulation->model().dimension();
    path.spring = {1, 1};  // both are put right when the masses are known
    path.places.assign(static_cast<std::size_t>(state_.now.scene->steps - path.start_step),
                       std::vector<double>(static_cast<std::size_t>(path.dimension), 0.0));
    document::Document with_pull = *state_.document;
    const std::string name = unused_name(Scene::of(with_pull, state_.file));
    if (with_pull.find("/forces") == nullptr) with_pull.set("/forces", document::Node::array());
    with_pull.set("/forces/-", force_of(path, name));
    Simulation live(Scene::of(with_pull, state_.file), state_.registry, state_.options.simulation);
    live.parameters().set_values(*state_.values);
    const auto quantity = [&](const std::string& key) -> model::Quantity& {
        return *live.model().find_quantity(name + "." + key);
    };
    model::Quantity& places = quantity("places");
    path.places.clear();

    const TrajectoryPointer t =
        trajectories_.make(state_.now.scene, -1, state_.base, state_.values);
    t->of_mouse_pull = true;
    {
        const Lock lock(shared_.mutex);
        shared_.growing = t;
    }
    const Rollout::Watch record = trajectories_.recorder(
        t, live, [] { return false; }, found->scene_point);
    const auto d = static_cast<std::size_t>(path.dimension);
    Clock::time_point due;
    const auto begin = [&] {
        const Lock lock(shared_.mutex);
        if (!shared_.mouse_pull) return;
        for (std::size_t c = 0; c < d; ++c)
            shared_.mouse_pull->anchor[c] =
                live.model()
                    .array("position")
                    .value(shared_.mouse_pull->scene_point, static_cast<int>(c));
        shared_.mouse_pull->trajectory = t;
        shared_.mouse_pull->live = true;
        due = Clock::now();
    };
    state_.activity.set(Activity::simulating, "pulling " + point_name);
    live.rollout().forward(false, [&](std::int64_t done) {
        record(done);
        if (done % state_.now.scene->substeps != 0) return true;
        const std::int64_t step = done / state_.now.scene->substeps;
        if (step == 0) {
            path.spring = spring_for(live, path.body, found->body, path.point);
            quantity("stiffness").values = {path.spring.stiffness};
            quantity("damping").values = {path.spring.damping};
            for (const char* key : {"stiffness", "damping"}) quantity(key).upload();
        }
        if (step < path.start_step) {
            const Lock lock(shared_.mutex);
            return !must_end() && shared_.mouse_pull->held;
        }
        if (step == path.start_step) begin();
        if (step == state_.now.scene->steps || !wait_for_mouse(due)) return false;
        std::vector<double> place(d);
        {
            const Lock lock(shared_.mutex);
            if (!shared_.mouse_pull) return false;
            for (std::size_t c = 0; c < d; ++c)
                place[c] = written_place(shared_.mouse_pull->anchor[c] + shared_.mouse_pull->by[c]);
            shared_.mark_changed();
        }
        const std::size_t row = path.places.size() * d;
        std::copy(place.begin(), place.end(),
                  places.values.begin() + static_cast<std::ptrdiff_t>(row));
        places.upload();
        path.places.push_back(std::move(place));
        return true;
    });
    const Lock lock(shared_.mutex);
    if (path.places.empty() || !shared_.mouse_pull || !shared_.mouse_pull->kept) return;
    auto pulled = std::make_shared<ReleasedPull>();
    pulled->number = grab.number;
    pulled->force = force_of(path, "pull");
    pulled->name = "Pull " + point_name;
    shared_.draft.pulls.released = std::move(pulled);
    shared_.current = t;  // until the scene with it runs
    shared_.wanted.iteration.reset();
}

}  // namespace hindcast::session
