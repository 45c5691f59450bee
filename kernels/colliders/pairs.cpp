// The position update of points that meet each other as well, in rounds.
//
// Every point has a clock of its own: the part of the step that it has left. In each round it finds
// the first impact on its way, with an obstacle or another point, ties by index (obstacles first).
// Two points that are each other's first meet now: nothing can come between. So do points and
// obstacles; all others wait for the next round. Every round has the earliest impact of all, so
// that the order in time is kept where it matters. A round after one that found nothing does
// nothing. After most_impacts rounds no impact may be left.
//
// Two balls meet like one with their relative motion and an obstacle at rest (impact.hpp). They
// share the change in the ratio of their inverse masses, so that momentum is kept.
#include "kernels/colliders/meeting.hpp"

namespace hindcast::impact {

namespace {

using model::Model;
using model::Phase;

// The first impact on a point's way: the number of the other point plus one, or one of these.
constexpr int nothing_comes = 0, an_obstacle = -1;

template <int D>
KernelDef begin(bool forced) {
    using V = Vec<Float, D>;
    return kernel(
        "impacts_begin",
        {"w", "force", "gravity", "h", "v", "x", "way_x", "way_w", "way_a", "left", "pull",
         "held_count", "held_normal", "held_velocity", "held_friction"},
        [forced](Int i, Read<Float> w, Read<V> force, Property<V> gravity, Param<Float> h,
                 Read<V> v, Read<V> x, Write<V> way_x, Write<V> way_w, Write<V> way_a,
                 Write<Float> left, Write<V> pull, Write<Int> held_count, Write<V> held_normal,
                 Write<V> held_velocity, Write<Float> held_friction) {
            way_x[i] = V(x[i]);
            way_w[i] = V(v[i]);
            V a = gravity[0];
            if (forced) a += force[i] * w[i];
            a = select(w[i] > 0.0, a, V::filled(Float(0)));
            way_a[i] = a;
            pull[i] = a;
            left[i] = h.value();
            held_count[i] = Int(0);
            held_normal[i] = V::filled(Float(0));
            held_velocity[i] = V::filled(Float(0));
            held_friction[i] = Float(0);
        });
}

template <int D>
KernelDef end() {
    using V = Vec<Float, D>;
    return kernel(
        "impacts_end", {"way_x", "way_w", "left", "v", "x"},
        [](Int i, Read<V> way_x, Read<V> way_w, Read<Float> left, Write<V> v, Write<V> x) {
            v[i] = V(way_w[i]);
            x[i] = way_x[i] + way_w[i] * left[i];
        });
}

KernelDef clear() {
    return kernel("impacts_clear", {"found"}, [](Int i, Write<Int> found) { found[i] = Int(0); });
}

template <int D>
Motion<D> motion_of(const Int& i, const Read<Vec<Float, D>>& x, const Read<Vec<Float, D>>& w,
                    const Read<Vec<Float, D>>& a, const Read<Float>& left) {
    return {x[i], w[i], a[i], a[i], left[i]};
}

// The part of the step, s, that is left when i and j meet; -1: they do not. The same bits for
// (i, j) and (j, i).
template <int D>
Float left_at_meeting(const Motion<D>& i, const Motion<D>& j, const Float& reach, double epsilon) {
    const Float common = min(i.left, j.left);
    const Vec<Float, D> d = (i.x + i.w * (i.left - common)) - (j.x + j.w * (j.left - common));
    const Float time = time_to_ball<D>(d, i.w - j.w, reach, common + 1.0, epsilon);
    return select(time < common, common - time, Float(-1));
}

template <int D>
KernelDef find(const Form& form, const model::Range& pairs, bool first_round) {
    using V = Vec<Float, D>;
    return kernel(
        first_round ? "impacts_find_first" : "impacts_find",
        {"w", "h", "step", "radius", "places", "velocities", "numbers", "way_x", "way_w", "left",
         "before", "first", "found"},
        [form, pairs, first_round](
            Int i, Read<Float> w, Param<Float> h, Param<Int> step, Read<Float> radius,
            Read<V> places, Read<V> velocities, Read<Vec4> numbers, Read<V> way_x, Read<V> way_w,
            Read<Float> left, Read<Int> before, Write<Int> first, Atomic<Int> found) {
            Int best = nothing_comes;
            const auto look = [&] {
                const Motion<D> m{way_x[i], way_w[i], V::filled(Float(0)), V::filled(Float(0)),
                                  left[i]};
                const Float radius_i = form.radii ? Float(radius[i]) : Float(0);
                const Bool free = w[i] > 0.0;
                Float latest = -1;
                if (!form.surfaces.empty()) {
                    const Obstacles<D> obstacles(form, i, radius_i, h, step, places, velocities,
                                                 numbers);
                    const Float time = obstacles.next(m).time;
                    const Bool meets = free && time < m.left;
                    latest = select(meets, m.left - time, latest);
                    best = select(meets, Int(an_obstacle), best);
                }
                const std::int64_t end = pairs.first + pairs.count;
                if_(in_range(i, pairs.first, end), [&] {
                    for_(static_cast<std::int32_t>(pairs.first), static_cast<std::int32_t>(end),
                         [&](Int j) {
                             const Motion<D> other{way_x[j], way_w[j], V::filled(Float(0)),
                                                   V::filled(Float(0)), left[j]};
                             const Float reach = radius_i + radius[j];
                             const Float at = left_at_meeting<D>(m, other, reach, epsilon());
                             const Bool sooner =
                                 j != i && at > latest && reach > 0.0 && (free || w[j] > 0.0);
                             latest = select(sooner, at, latest);
                             best = select(sooner, j + 1, best);
                         });
                });
                if_(best != nothing_comes, [&] { found[0].add(Int(1)); });
            };
            if (first_round)
                look();
            else
                if_(before[0] > 0, look);
            first[i] = best;
        });
}

template <int D>
KernelDef resolve(const Form& form, bool friction) {
    using V = Vec<Float, D>;
    return kernel("impacts_resolve",
                  {"w",          "h",          "step",        "radius",        "places",
                   "velocities", "numbers",    "restitution", "friction",      "rest_speed",
                   "first",      "pull",       "way_x",       "way_w",         "way_a",
                   "left",       "held_count", "held_normal", "held_velocity", "held_friction",
                   "next_x",     "next_w",     "next_a",      "next_left"},
                  [form, friction](
                      Int i, Read<Float> w, Param<Float> h, Param<Int> step, Read<Float> radius,
                      Read<V> places, Read<V> velocities, Read<Vec4> numbers,
                      Property<Float> restitution, Property<Float> mu, Property<Float> rest_speed,
                      Read<Int> first, Read<V> pull, Read<V> way_x, Read<V> way_w, Read<V> way_a,
                      Read<Float> left, ReadWrite<Int> held_count, ReadWrite<V> held_normal,
                      ReadWrite<V> held_velocity, ReadWrite<Float> held_friction, Write<V> next_x,
                      Write<V> next_w, Write<V> next_a, Write<Float> next_left) {
                      Motion<D> m = motion_of<D>(i, way_x, way_w, way_a, left);
                      m.pull = pull[i];
                      const Float radius_i = form.radii ? Float(radius[i]) : Float(0);
                      const Int comes = first[i];
                      if (!form.surfaces.empty())
                          if_(comes == an_obstacle, [&] {
                              const Obstacles<D> obstacles(form, i, radius_i, h, step, places,
                                                           velocities, numbers);
                              const auto now = obstacles.next(m);
                              m.advance(now.time);
                              Outcome<D> out = respond<D>(m, now.with, obstacles.friction());
                              Corner<D> corner;
                              corner.count = held_count[i];
                              corner.before.normal = held_normal[i];
                              corner.before.velocity = held_velocity[i];
                              corner.before.friction = held_friction[i];
                              corner.hold(now.with, out, obstacles.friction(), epsilon());
                              held_count[i] = corner.count;
                              held_normal[i] = corner.before.normal;
                              held_velocity[i] = corner.before.velocity;
                              held_friction[i] = corner.before.friction;
                              m.w = out.w;
                              m.a = out.a;
                          });
                      const Int j = select(comes > 0, comes - 1, i);
                      if_(comes > 0 && first[j] == i + 1, [&] {
                          Motion<D> other = motion_of<D>(j, way_x, way_w, way_a, left);
                          const Float reach = radius_i + radius[j];
                          const Float at = left_at_meeting<D>(m, other, reach, epsilon());
                          m.advance(m.left - at);
                          other.advance(other.left - at);
                          Meeting<D> with;
                          with.normal = normalize(m.x - other.x);
                          with.restitution = restitution[0];
                          with.friction = mu[0];
                          with.rest_speed = rest_speed[0];
                          const V a = m.a - other.a;
                          const Motion<D> relative{m.x - other.x, m.w - other.w, a, a, at};
                          const Outcome<D> out = respond<D>(relative, with, friction);
                          const Float share = w[i] / (w[i] + w[j]);
                          m.w += (out.w - relative.w) * share;
                          m.a += (out.a - relative.a) * share;
                      });
                      next_x[i] = m.x;
                      next_w[i] = m.w;
                      next_a[i] = m.a;
                      next_left[i] = m.left;
                  });
}

KernelDef check() {
    return kernel(
        "impacts_check", {"first", "left_over"}, [](Int i, Read<Int> first, Write<Int> left_over) {
            Int n = 0;
            while_([&] { return first[i] != nothing_comes; }, [&] { n += 1; }, 1, too_many);
            left_over[i] = n;
        });
}

}  // namespace

void add_rounds(Model& model, const Bound& bound, const Pairs& pairs) {
    const particles::Arrays a = particles::arrays(model);
    const std::int64_t n = model.point_count();
    const int d = model.dimension();
    const Form& form = bound.form;
    const auto make = [&](auto f) { return model::for_dimension(model, f); };
    const auto array = [&](const char* name, int round, int components, const char* unit,
                           const char* meaning) {
        return model.add_array(std::string("impact_") + name + "_" + std::to_string(round), n,
                               components, {.unit = unit, .meaning = meaning, .internal = true});
    };
    struct Way {
        Array x, w, a, left;
    } way[2];
    for (int k = 0; k < 2; ++k)
        way[k] = {array("x", k, d, "m", "place of each point within the step"),
                  array("w", k, d, "m/s", "velocity of each point within the step"),
                  array("a", k, d, "m/s^2", "acceleration that each point is left with"),
                  array("left", k, 1, "s", "what each point has left of the step")};
    const Array pull = array("pull", 0, d, "m/s^2", "acceleration of each point when free"),
                held_normal =
                    array("held_normal", 0, d, "", "unit normal of what holds each point"),
                held_velocity =
                    array("held_velocity", 0, d, "m/s", "velocity of what holds each point"),
                held_friction =
                    array("held_friction", 0, 1, "", "friction of what holds each point");
    const Array held_count(ir::Type::i32, {n, 1});
    const std::vector<NamedArgument> held{{"held_count", held_count},
                                          {"held_normal", held_normal},
                                          {"held_velocity", held_velocity},
                                          {"held_friction", held_friction}};
    using Arguments = std::vector<NamedArgument>;
    const auto add = [&](const KernelDef& kernel, std::int64_t items,
                         std::initializer_list<Arguments> parts, const std::string& text) {
        Arguments all;
        for (const Arguments& part : parts) all.insert(all.end(), part.begin(), part.end());
        model.add(Phase::position_update, model.launch(kernel, items, all, "impacts: " + text));
    };
    add(make([&](auto D) { return begin<D>(form.forced); }), n,
        {bound.acceleration,
         held,
         {{"w", a.inverse_mass},
          {"h", model.step()},
          {"v", a.velocity},
          {"x", a.position},
          {"way_x", way[0].x},
          {"way_w", way[0].w},
          {"way_a", way[0].a},
          {"left", way[0].left},
          {"pull", pull}}},
        "the step begins");
    Array before;  // number of points with an impact in the round before
    for (int round = 0; round <= most_impacts; ++round) {
        const Way& now = way[round % 2];
        const Way& then = way[(round + 1) % 2];
        const Array found(ir::Type::i32, {1}), first(ir::Type::i32, {n, 1});
        const std::string name = "round " + std::to_string(round + 1);
        add(clear(), 1, {{{"found", found}}}, name + ", nothing is found yet");
        const Arguments here{{"way_x", now.x}, {"way_w", now.w}, {"left", now.left}};
        Arguments finds{{"first", first}, {"found", found}};
        if (round > 0) finds.emplace_back("before", before);
        add(make([&](auto D) { return find<D>(form, pairs.range, round == 0); }), n,
            {bound.obstacles, here, finds}, name + ", what comes first");
        if (round == most_impacts) {
            add(check(), n, {{{"first", first}, {"left_over", Array(ir::Type::i32, {n, 1})}}},
                "nothing is left");
            break;
        }
        add(make([&](auto D) { return resolve<D>(form, pairs.friction != nullptr); }), n,
            {bound.obstacles,
             here,
             held,
             {{"way_a", now.a},
              {"restitution", argument_of(pairs.restitution)},
              {"friction", argument_of(pairs.friction)},
              {"rest_speed", argument_of(pairs.rest_speed)},
              {"first", first},
              {"pull", pull},
              {"next_x", then.x},
              {"next_w", then.w},
              {"next_a", then.a},
              {"next_left", then.left}}},
            name + ", impacts");
        before = found;
    }
    const Way& last = way[most_impacts % 2];
    add(make([&](auto D) { return end<D>(); }), n,
        {{{"way_x", last.x},
          {"way_w", last.w},
          {"left", last.left},
          {"v", a.velocity},
          {"x", a.position}}},
        "the step ends");
}

}  // namespace hindcast::impact
