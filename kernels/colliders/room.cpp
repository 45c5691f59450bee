#include "kernels/colliders/room.hpp"

#include <algorithm>

#include "engine/lang/control.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::barrier {

using namespace lang;
using model::for_dimension;
using model::Model;
using model::Phase;

namespace {

struct Room {
    std::vector<RoomObstacle> obstacles;
    bool made = false;
};

// A row of the table, for one obstacle: its place at the beginning of the step, its motion in the
// step, and its reach.
template <int D>
struct Row {
    using V = Vec<Float, D>;
    static constexpr int spin = D == 3 ? 3 : 1, size = 3 * D + D * D + spin + 3;

    V center, extent, way;
    Mat<Float, D, D> rotation;
    Spin<D> turn;
    Float number, turning_way, reach;

    // Calls visit() with each number, in the order of the table.
    template <class F>
    void each(const F& visit) {
        for (V* v : {&center, &extent, &way})
            for (int k = 0; k < D; ++k) visit((*v)[k]);
        for (int r = 0; r < D; ++r)
            for (int c = 0; c < D; ++c) visit(rotation(r, c));
        for (int k = 0; k < spin; ++k) visit(lang::Shape<Spin<D>>::component(turn, k));
        for (Float* f : {&number, &turning_way, &reach}) visit(*f);
    }
    // The obstacle after the part t of the step.
    Obstacle<D> at(const Form& form, const Float& t) const {
        Obstacle<D> o(form);
        o.center = center + t * way;
        o.rotation = rotation;
        o.extent = extent;
        o.size = number;
        if (form.turns) {
            const Mat<Float, D, D> turned = rotation_by<D>(Spin<D>(turn * t));
            if (form.has_axis())
                o.extent = turned * extent;
            else
                o.rotation = turned * rotation;
        }
        return o;
    }
};

template <int D>
KernelDef write_row(const Form& form, std::int64_t first) {
    using V = Vec<Float, D>;
    return kernel("barrier_obstacle", with_obstacle({"reach", "table"}),
                  [form, first](Int, Property<V> place, Property<V> extent, Property<Float> size,
                                Property<Orientation<D>> orientation, Property<V> velocity,
                                Property<Spin<D>> spin, Property<Float> samples, Param<Float> h,
                                Param<Int> step, Property<Float> reach, WriteSlice<Float> table) {
                      const Given<D> given{form,     place, extent,  size, orientation,
                                           velocity, spin,  samples, h,    step};
                      const Obstacle<D> o = given.at(0);
                      Row<D> row;
                      row.center = o.center;
                      row.extent = o.extent;
                      row.way = given.way();
                      row.rotation = o.rotation;
                      row.turn = given.turn();
                      row.number = o.size;
                      row.turning_way = given.turning_way();
                      row.reach = reach[0];
                      auto at = static_cast<std::int32_t>(first);
                      row.each([&](const Float& number) {
                          table.store_once(at++, ad::stop_gradient(number));
                      });
                  });
}

const KernelDef copy_samples =
    kernel("barrier_samples", {"first", "from", "samples"},
           [](Int i, Param<Int> first, Property<Float> from, WriteSlice<Float> samples) {
               samples.store_once(i + first.value(), ad::stop_gradient(from[i]));
           });

constexpr int most_parts = 2000;

template <int D>
KernelDef clear_way(const std::vector<RoomObstacle>& obstacles,
                    const std::vector<std::int64_t>& first_sample) {
    using V = Vec<Float, D>;
    return kernel(
        "barrier_room", {"table", "samples", "w", "x"},
        [obstacles, first_sample](Int p, Read<Float> table, Read<Float> samples, Read<Float> w,
                                  ReadWrite<V> x) {
            const std::size_t count = obstacles.size();
            std::vector<Row<D>> rows(count);
            std::int32_t slot = 0;
            for (Row<D>& row : rows)
                row.each([&](Float& number) { number = ad::stop_gradient(table[slot++]); });
            const auto obstacle_at = [&](std::size_t k, const Float& t) {
                Obstacle<D> o = rows[k].at(obstacles[k].form, t);
                if (!obstacles[k].form.is_convex())
                    o.sample = [&, k](Int i) {
                        return ad::stop_gradient(
                            samples[i + static_cast<std::int32_t>(first_sample[k])]);
                    };
                return o;
            };
            const auto meets = [&](std::size_t k) {
                const model::Range& r = obstacles[k].range;
                return p >= static_cast<std::int32_t>(r.first) &&
                       p < static_cast<std::int32_t>(r.first + r.count);
            };
            V at = x[p];
            for (int c = 0; c < D; ++c) at[c] = ad::stop_gradient(at[c]);
            const V start = at;
            std::vector<Float> wanted(count);
            Bool starts_free = w[p] > 0.0;
            for (std::size_t k = 0; k < count; ++k) {
                const Float d = obstacle_at(k, 0).clearance(at);
                wanted[k] = min(d, 0.5 * rows[k].reach);
                starts_free = starts_free && (d > 0.0 || !meets(k));
            }
            // The minimization reports points that start inside.
            Float t = select(starts_free, Float(0), Float(1));
            Int parts = 0, nearest = -1;
            while_(
                [&] { return t < 1.0 && parts < most_parts; },
                [&] {
                    std::vector<V> normals;
                    std::vector<Float> distances, rates;
                    V push = V::filled(Float(0)), along = push;
                    for (std::size_t k = 0; k < count; ++k) {
                        const Form& form = obstacles[k].form;
                        const Obstacle<D> o = obstacle_at(k, t);
                        const Bool met = meets(k);
                        const V n = o.normal(at);
                        const Float d = select(met, o.clearance(at), Float(1e30));
                        V speed = rows[k].way;
                        if (form.turns)
                            speed = speed + turned_velocity<D>(rows[k].turn, at - o.center);
                        const Float rate = max(dot(n, speed), 0.0);
                        push += n * max(wanted[k] - d, 0.0);
                        along += n * select(d <= wanted[k], rate, Float(0));
                        normals.push_back(n);
                        distances.push_back(d);
                        rates.push_back(rate);
                    }
                    // The least multiples of `push` and `along` that satisfy every obstacle.
                    Float pushed = 0, carried = 0;
                    for (std::size_t k = 0; k < count; ++k) {
                        const Float by = dot(normals[k], push), with = dot(normals[k], along),
                                    lack = wanted[k] - distances[k];
                        pushed = max(pushed, select(lack > 0.0 && by > 0.0, divz(lack, by), 0.0));
                        carried = max(carried,
                                      select(lack >= 0.0 && with > 0.0, divz(rates[k], with), 0.0));
                    }
                    push = push * min(pushed, 4.0);
                    along = along * min(carried, 4.0);
                    Float fraction = 1, part = 1.0 - t;
                    for (std::size_t k = 0; k < count; ++k) {
                        const Form& form = obstacles[k].form;
                        const Float free = 0.4 * distances[k];
                        const Float nearer = obstacle_at(k, t).approach(push, normals[k]);
                        fraction = min(fraction, select(nearer > free, free / nearer, Float(1)));
                        Float rate =
                            max(dot(normals[k], rows[k].way) - dot(normals[k], along), 0.0);
                        if (!form.is_convex()) rate = norm(rows[k].way) + norm(along);
                        rate += rows[k].turning_way;
                        const Float longest = select(rate > free, free / rate, Float(1));
                        nearest = select(longest < part, static_cast<std::int32_t>(k), nearest);
                        part = min(part, longest);
                    }
                    at = at + fraction * push + part * along;
                    t += part;
                    parts += 1;
                },
                most_parts + 1);
            for (std::size_t k = 0; k < count; ++k) {
                Bool stuck = t < 1.0 && nearest == static_cast<std::int32_t>(k);
                while_([&] { return stuck; }, [] {}, 1,
                       "the obstacle '" + obstacles[k].name +
                           "' leaves a point no room between it and others; let it move "
                           "elsewhere, or less far in a step");
            }
            x[p] = select(starts_free, at, start);
        });
}

}  // namespace

void add_to_room(Model& model, RoomObstacle obstacle) {
    model.shared<Room>().obstacles.push_back(std::move(obstacle));
}

void make_room(Model& model) {
    Room& room = model.shared<Room>();
    const std::vector<RoomObstacle>& all = room.obstacles;
    if (room.made ||
        std::ranges::none_of(all, [](const RoomObstacle& o) { return o.form.moves(); }))
        return;
    room.made = true;
    const std::int64_t width = for_dimension(model, [](auto D) { return Row<D>::size; });
    const Array table =
        model.add_array("obstacles", static_cast<std::int64_t>(all.size()) * width, 1,
                        {.meaning = "where the barriers' obstacles are, and how they move"});
    std::vector<std::int64_t> first_sample;
    std::int64_t samples = 0;
    for (const RoomObstacle& o : all) {
        first_sample.push_back(samples);
        if (o.form.is_convex()) continue;
        std::int64_t nodes = 1;
        for (const std::int64_t n : o.form.grid.counts) nodes *= n;
        samples += nodes;
    }
    std::vector<NamedArgument> arguments{{"table", table},
                                         {"w", particles::arrays(model).inverse_mass},
                                         {"x", particles::arrays(model).position}};
    if (samples > 0)
        arguments.emplace_back("samples",
                               model.add_array("obstacles: distances", samples, 1,
                                               {.unit = "m", .meaning = "of all distance fields"}));
    for (std::size_t k = 0; k < all.size(); ++k) {
        const RoomObstacle& o = all[k];
        std::vector<NamedArgument> given = o.obstacle;
        const auto sampled = std::ranges::find(given, "samples", &NamedArgument::parameter);
        if (sampled != given.end()) {
            const std::int64_t nodes =
                (k + 1 < all.size() ? first_sample[k + 1] : samples) - first_sample[k];
            model.prologue().add(model.launch(
                copy_samples, nodes,
                {{"first", first_sample[k]}, {"from", sampled->argument}, arguments.back()},
                o.name + ": distances"));
        }
        given.insert(given.end(), {{"reach", o.reach}, {"table", table}});
        const Launch launch = model.launch(
            for_dimension(
                model,
                [&](auto D) { return write_row<D>(o.form, static_cast<std::int64_t>(k) * width); }),
            1, given, o.name + ": where it is");
        if (o.form.moves())
            model.add(Phase::velocity_constraints, launch);
        else
            model.prologue().add(launch);
    }
    model.add(
        Phase::velocity_constraints,
        model.launch(for_dimension(model, [&](auto D) { return clear_way<D>(all, first_sample); }),
                     model.point_count(), arguments, "obstacles move points out of their way"));
}

}  // namespace hindcast::barrier
