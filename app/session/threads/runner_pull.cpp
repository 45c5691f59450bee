// A pull by hand. The scene with one more force of module "pull", which has a place for each step
// to the end, is run beside the simulation that is shown: from the start to the step shown at once,
// which gives the state there bit by bit, and from then on in real time, the place of each step
// being the hand's when the step begins. On release the places that were used become the force that
// is written into the scene; run from step 0 it gives the frames that were shown, because an item
// of the force whose step is not this one adds zero.
//
// Why not in the simulation that is shown: a reserved pull would cost every scene a launch in every
// step, and a document that is edited at each drag would take the history of the optimisation with
// it before anybody knows whether the pull is wanted.
#include <algorithm>
#include <cmath>
#include <set>

#include "app/session/threads/runner.hpp"

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

// The body's points, and their masses in a run that has begun.
HandSpring spring_for(Simulation& simulation, model::Range body, std::int64_t point) {
    const std::vector<double> mass = simulation.model().array("mass").to_doubles();
    const std::vector<double> inverse = simulation.model().array("inverse_mass").to_doubles();
    double sum = 0;
    for (std::int64_t p = body.first; p < body.first + body.count; ++p)
        if (inverse[static_cast<std::size_t>(p)] > 0) sum += mass[static_cast<std::size_t>(p)];
    const auto grabbed = static_cast<std::size_t>(body.first + point);
    if (!(inverse[grabbed] > 0))
        throw Error("this point is fixed: nothing can pull it away")
            .remedy("pull on another point of the body");
    return hand_spring(mass[grabbed], sum, simulation.model().step());
}

}  // namespace

// Whether something else is wanted that ends the pull without a trace.
bool Runner::hand_waits(const Lock&) const {
    const Desk& d = desk_;
    return d.ends || !d.hand || std::ranges::any_of(d.work, [](const Command& command) {
               const auto* const apply = std::get_if<Apply>(&command);
               return (apply != nullptr && apply->fresh) || std::holds_alternative<Reset>(command);
           });
}

// Until the next step's time has come. False: the hand has let go.
bool Runner::wait_for_hand(Clock::time_point& due) {
    for (;;) {
        write_frame();
        Lock lock(desk_.mutex);
        seen_ = desk_.asked;
        if (hand_waits(lock)) {
            if (desk_.hand) desk_.hand->kept = false;
            return false;
        }
        if (!desk_.hand || !desk_.hand->held) return false;
        const Clock::time_point now = Clock::now();
        const double speed = desk_.hand->speed;
        if (speed <= 0 || now >= due) {
            due = std::max(due, now - longest_lag);
            if (speed > 0)
                due += std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(now_.world->step_seconds / speed));
            return true;
        }
        if (!desk_.job) desk_.runner_wakes.wait_until(lock, due);
    }
}

// What goes wrong ends the pull, and nothing else.
void Runner::pull(const Grab& grab) {
    try {
        follow_hand(grab);
    } catch (const Error& error) {
        const Lock lock(desk_.mutex);
        desk_.fail(error);
    }
    forget_arrays();  // arrays of the simulation with the pull
}

void Runner::follow_hand(const Grab& grab) {
    struct LetGo {  // however this ends
        Desk& desk;
        ~LetGo() {
            const Lock lock(desk.mutex);
            desk.hand.reset();
            desk.growing = nullptr;
            desk.mark();
        }
    } const let_go{desk_};
    HandPath path;
    model::Range body;
    std::int64_t held = -1;
    {
        const Lock lock(desk_.mutex);
        if (!desk_.hand || desk_.hand->number != grab.number || !desk_.hand->held) return;
        const TrajectoryPointer& shown = desk_.shown;
        if (shown && shown->world != now_.world && shown->iteration >= 0)
            throw Error("what is shown is an iteration of the scene before an edit")
                .remedy("show the newest iteration, or branch from this one (B), and pull then");
        if (!shown || shown->world != now_.world)
            throw Error("the scene was changed just now, and what is shown is of the one before")
                .remedy("pull once it runs");
        const IterationInfo* const row =
            desk_.wanted_iteration ? row_of(*desk_.wanted_iteration) : nullptr;
        if (row != nullptr && (!row->parameters || *row->parameters != *values_))
            throw Error(
                "what is shown is an older iteration, with other parameters than those "
                "that stand")
                .remedy("show the newest iteration, or branch from this one (B), and pull then");
        path.start_step = desk_.hand->start_step;
        if (path.start_step >= now_.world->steps)
            throw Error("the time of the scene is over: there is no step to pull in")
                .remedy("go back in time, or give the scene more steps");
        const FramePointer frame = shown->frame_at(path.start_step);
        const auto nearest = std::ranges::min_element(grab.points, {}, [&](std::int64_t p) {
            return distance(place_of(*frame, *shown, p), grab.place);
        });
        if (nearest == grab.points.end()) throw Error("nothing was grabbed");
        desk_.hand->scene_point = held = *nearest;
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
    path.places.assign(static_cast<std::size_t>(now_.world->steps - path.start_step),
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

    const TrajectoryPointer t = new_trajectory(now_.world, -1, base_, values_);
    t->by_hand = true;
    {
        const Lock lock(desk_.mutex);
        desk_.growing = t;
    }
    const Rollout::Watch record = recorder(
        t, live, [] { return false; }, held);
    const auto d = static_cast<std::size_t>(path.dimension);
    Clock::time_point due;
    const auto begin = [&] {
        const Lock lock(desk_.mutex);
        if (!desk_.hand) return;
        for (std::size_t c = 0; c < d; ++c)
            desk_.hand->anchor[c] =
                live.model().array("position").value(desk_.hand->scene_point, static_cast<int>(c));
        desk_.hand->trajectory = t;
        desk_.hand->live = true;
        due = Clock::now();
    };
    set_activity(Activity::simulating, "pulling " + point_name);
    live.rollout().forward(false, [&](std::int64_t done) {
        record(done);
        if (done % now_.world->substeps != 0) return true;
        const std::int64_t step = done / now_.world->substeps;
        if (step == 0) {
            path.spring = spring_for(live, body, path.point);
            quantity("stiffness").values = {path.spring.stiffness};
            quantity("damping").values = {path.spring.damping};
            for (const char* key : {"stiffness", "damping"}) quantity(key).upload();
        }
        if (step < path.start_step) {
            const Lock lock(desk_.mutex);
            return !hand_waits(lock) && desk_.hand->held;
        }
        if (step == path.start_step) begin();
        if (step == now_.world->steps || !wait_for_hand(due)) return false;
        std::vector<double> place(d);
        {
            const Lock lock(desk_.mutex);
            if (!desk_.hand) return false;
            for (std::size_t c = 0; c < d; ++c)
                place[c] = written_place(desk_.hand->anchor[c] + desk_.hand->by[c]);
            desk_.mark();
        }
        const std::size_t row = path.places.size() * d;
        std::copy(place.begin(), place.end(),
                  places.values.begin() + static_cast<std::ptrdiff_t>(row));
        places.upload();
        path.places.push_back(std::move(place));
        return true;
    });
    const Lock lock(desk_.mutex);
    if (path.places.empty() || !desk_.hand || !desk_.hand->kept) return;
    auto pulled = std::make_shared<Pulled>();
    pulled->number = grab.number;
    pulled->force = force_of(path, "pull");
    pulled->name = "Pull " + point_name;
    desk_.draft.pulled = std::move(pulled);
    desk_.current = t;  // until the scene with it runs
    desk_.wanted_iteration.reset();
}

}  // namespace hindcast::session
