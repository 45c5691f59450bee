// A pull with the mouse. A second simulation has one more force of module "pull", with a place for
// each step to the end. It runs at once from the start to the step shown, which gives the same bits
// there, and from then on in real time; the place of each step is that of the mouse when the step
// begins. On release the places that were used become the force that is written into the scene. A
// run of that from step 0 gives the frames that were shown, because an item of the force adds zero
// in every step but its own.
//
// Why not in the simulation shown: a reserved pull would cost every scene a launch in every step,
// and an edited document at each drag would replace the optimisation's history before the user has
// decided to keep the pull.
#include <algorithm>
#include <cmath>
#include <set>

#include "app/session/threads/runner.hpp"
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

// Whether another command discards the pull.
bool Runner::pull_must_end(const Lock&) const {
    const SharedState& d = shared_;
    return d.ends || !d.mouse_pull ||
           std::ranges::any_of(d.runner_commands, [](const Command& command) {
               const auto* const apply = std::get_if<Apply>(&command);
               return (apply != nullptr && apply->fresh) || std::holds_alternative<Reset>(command);
           });
}

// Waits until the next step is due. False: the pull has ended.
bool Runner::wait_for_mouse(Clock::time_point& due) {
    for (;;) {
        write_frame();
        Lock lock(shared_.mutex);
        seen_ = shared_.runner_wakeups;
        if (pull_must_end(lock)) {
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
                    std::chrono::duration<double>(now_.scene->step_seconds / speed));
            return true;
        }
        if (!shared_.job) shared_.runner_wakes.wait_until(lock, due);
    }
}

// What goes wrong ends the pull, and nothing else.
void Runner::pull(const Grab& grab) {
    try {
        follow_mouse(grab);
    } catch (const Error& error) {
        const Lock lock(shared_.mutex);
        shared_.fail(error);
    }
    forget_arrays();  // arrays of the simulation with the pull
}

void Runner::follow_mouse(const Grab& grab) {
    struct LetGo {  // however this ends
        SharedState& shared;
        ~LetGo() {
            const Lock lock(shared.mutex);
            shared.mouse_pull.reset();
            shared.growing = nullptr;
            shared.mark_changed();
        }
    } const release{shared_};
    PullPath path;
    model::Range body;
    std::int64_t held = -1;
    {
        const Lock lock(shared_.mutex);
        if (!shared_.mouse_pull || shared_.mouse_pull->number != grab.number ||
            !shared_.mouse_pull->held)
            return;
        const TrajectoryPointer& shown = shared_.shown;
        if (shown && shown->scene != now_.scene && shown->iteration >= 0)
            throw Error("what is shown is an iteration of the scene before an edit")
                .remedy("show the newest iteration, or branch from this one (B), and pull then");
        if (!shown || shown->scene != now_.scene)
            throw Error("the scene was changed just now, and what is shown is of the one before")
                .remedy("pull once it runs");
        const IterationInfo* const row =
            shared_.wanted_iteration ? row_of(*shared_.wanted_iteration) : nullptr;
        if (row != nullptr && (!row->parameters || *row->parameters != *values_))
            throw Error(
                "what is shown is an older iteration, with other parameters than those "
                "that stand")
                .remedy("show the newest iteration, or branch from this one (B), and pull then");
        path.start_step = shared_.mouse_pull->start_step;
        if (path.start_step >= now_.scene->steps)
            throw Error("the time of the scene is over: there is no step to pull in")
                .remedy("go back in time, or give the scene more steps");
        const FramePointer frame = shown->frame_at(path.start_step);
        const auto nearest = std::ranges::min_element(grab.points, {}, [&](std::int64_t p) {
            return distance(place_of(*frame, *shown, p), grab.place);
        });
        if (nearest == grab.points.end()) throw Error("nothing was grabbed");
        shared_.mouse_pull->scene_point = held = *nearest;
        for (const auto& [name, range] : now_.simulation->model().bodies_with_points())
            if (*nearest >= range.first && *nearest < range.first + range.count) {
                body = range;
                path.body = name;
                path.point = *nearest - range.first;
            }
    }
    const std::string point_name = path.body + " point " + std::to_string(path.point);
    set_activity(Activity::building, "pulling " + point_name);
    path.dimension = now_.simulation->model().dimension();
    path.spring = {1, 1};  // both are put right when the masses are known
    path.places.assign(static_cast<std::size_t>(now_.scene->steps - path.start_step),
                       std::vector<double>(static_cast<std::size_t>(path.dimension), 0.0));
    document::Document with_pull = *document_;
    const std::string name = unused_name(Scene::of(with_pull, file_));
    if (with_pull.find("/forces") == nullptr) with_pull.set("/forces", document::Node::array());
    with_pull.set("/forces/-", force_of(path, name));
    Simulation live(Scene::of(with_pull, file_), registry_, options_.simulation);
    live.parameters().set_values(*values_);
    const auto quantity = [&](const std::string& key) -> model::Quantity& {
        return *live.model().find_quantity(name + "." + key);
    };
    model::Quantity& places = quantity("places");
    path.places.clear();

    const TrajectoryPointer t = new_trajectory(now_.scene, -1, base_, values_);
    t->of_mouse_pull = true;
    {
        const Lock lock(shared_.mutex);
        shared_.growing = t;
    }
    const Rollout::Watch record = recorder(
        t, live, [] { return false; }, held);
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
    set_activity(Activity::simulating, "pulling " + point_name);
    live.rollout().forward(false, [&](std::int64_t done) {
        record(done);
        if (done % now_.scene->substeps != 0) return true;
        const std::int64_t step = done / now_.scene->substeps;
        if (step == 0) {
            path.spring = spring_for(live, path.body, body, path.point);
            quantity("stiffness").values = {path.spring.stiffness};
            quantity("damping").values = {path.spring.damping};
            for (const char* key : {"stiffness", "damping"}) quantity(key).upload();
        }
        if (step < path.start_step) {
            const Lock lock(shared_.mutex);
            return !pull_must_end(lock) && shared_.mouse_pull->held;
        }
        if (step == path.start_step) begin();
        if (step == now_.scene->steps || !wait_for_mouse(due)) return false;
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
    shared_.draft.released_pull = std::move(pulled);
    shared_.current = t;  // until the scene with it runs
    shared_.wanted_iteration.reset();
}

}  // namespace hindcast::session
