#include "kernels/colliders/barrier_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/document/document.hpp"
#include "engine/document/text.hpp"
#include "engine/model/value_request.hpp"
#include "kernels/colliders/obstacle_pairs.hpp"
#include "kernels/colliders/room.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::barrier {

using model::Field;
using model::Model;
using model::Quantity;
using model::Settings;
using Values = std::span<const double>;

Quantity& one_value(const Settings& settings, Model& model, const std::string& key,
                    int components) {
    document::ValueRequest request = model::value_request(model);
    request.count = 1;
    request.components = components;
    Quantity q;
    q.path = settings.name() + "." + key;
    q.count = 1;
    q.components = components;
    q.shared = q.may_optimize = true;
    q.values = document::evaluate(*settings.find(key), request).data;
    q.scene_pointer = settings.node().pointer() + "/" + key;
    if (const document::Node* loaded = settings.find_loaded(key);
        loaded != nullptr && document::to_line(*loaded) != document::to_line(*settings.find(key)))
        q.as_loaded = [request, loaded = *loaded] {
            return document::evaluate(loaded, request).data;
        };
    return model.add_quantity(std::move(q));
}

std::vector<Field> response_fields() {
    using namespace model;
    return {
        choice("friction_model", {"bristle", "smoothed"})
            .fallback("\"bristle\"")
            .doc("barrier: bristle: what friction can hold is held by an elastic bristle, and does "
                 "not creep. smoothed: friction is full from slip_speed on and falls smoothly to "
                 "zero below, mu N (2 y - y^2) with y = |v_t| / slip_speed; what is held creeps"),
        number("stiffness")
            .unit("N/m")
            .optional()
            .at_least(0)
            .differentiable()
            .doc("penalty: force per depth. barrier: k of the energy "
                 "-k (d - distance)^2 log(d / distance) of a point at d < distance"),
        number("distance")
            .unit("m")
            .fallback("1e-3")
            .positive()
            .differentiable()
            .doc("barrier: how far from the surface it begins"),
        number("bristle_stiffness")
            .unit("N/m")
            .optional()
            .positive()
            .differentiable()
            .doc("barrier: force per way of a point that friction holds, before it slides; "
                 "default: stiffness"),
        number("slip_speed")
            .unit("m/s")
            .fallback("0.01")
            .positive()
            .differentiable()
            .doc("penalty: friction is full from this tangential speed on, and proportional below; "
                 "barrier: of the smoothed friction")};
}

Field angular_velocity_field(const std::string& before) {
    return model::values("angular_velocity")
        .unit("rad/s")
        .optional()
        .differentiable()
        .doc(before +
             "the obstacle turns about its center: a number in the plane, a vector in space");
}

Meeting meeting(const Settings& settings, Model& model, Form form, const Numbers& numbers) {
    const auto refuse = [&](const char* key, const std::string& why, const std::string& remedy) {
        if (settings.written(key))
            throw settings.error(key, std::string("'") + key + "' has no meaning " + why)
                .remedy(remedy);
    };
    const bool smoothed = settings.choice("friction_model") == "smoothed";
    if (!settings.written("friction"))
        for (const char* key : {"bristle_stiffness", "slip_speed", "friction_model"})
            refuse(key, "without friction", "add \"friction\", or leave it out");
    if (smoothed)
        refuse("bristle_stiffness", "for smoothed friction", "leave it out, or choose \"bristle\"");
    else
        refuse("slip_speed", "for friction by a bristle",
               "leave it out, or choose the friction_model \"smoothed\"");
    const auto given = [&](const char* key) -> Quantity* {
        if (!settings.written(key)) return nullptr;
        Quantity* made = model.find_quantity(settings.name() + "." + key);
        return made != nullptr ? made : &settings.quantity(model, key);
    };
    if (!settings.written("stiffness"))
        throw settings.error("response", "a barrier needs a stiffness")
            .remedy("add \"stiffness\" (N/m)");
    if (model.has_array("radius"))
        throw settings
            .error("response",
                   "particles with a radius meet obstacles by the response \"impact\" only")
            .remedy("choose \"impact\", or leave the particles' radius out");
    Meeting m{.name = settings.name(),
              .form = std::move(form),
              .numbers = numbers,
              .range = particles::body_or_all(settings, model),
              .velocity = given("velocity"),
              .stiffness = given("stiffness"),
              .distance = &settings.quantity(model, "distance"),
              .friction = given("friction"),
              .bristle_stiffness = given("bristle_stiffness")};
    if (smoothed) m.slip_speed = &settings.quantity(model, "slip_speed");
    if (settings.written("angular_velocity")) {
        m.angular_velocity =
            &one_value(settings, model, "angular_velocity", model.dimension() == 3 ? 3 : 1);
        m.angular_velocity->unit = "rad/s";
    }
    return m;
}

namespace {

// Throws Error if the values of a grid cannot be distances.
void check_samples(const Settings& settings, const geometry::FieldGrid& grid, double reach,
                   Values values) {
    const std::vector<std::int64_t>& n = grid.counts;
    const std::size_t axes = n.size();
    std::vector<std::int64_t> at(axes, 0);
    const auto index = [&](const std::vector<std::int64_t>& node) {
        std::int64_t i = 0;
        for (std::size_t k = 0; k < axes; ++k) i = i * n[k] + node[k];
        return static_cast<std::size_t>(i);
    };
    const auto place = [&] {
        std::string text;
        for (const std::int64_t k : at) text += (text.empty() ? "" : ", ") + std::to_string(k);
        return "node (" + text + ")";
    };
    const auto value = [&](const std::vector<std::int64_t>& node) {
        return values.size() == 1 ? values.front() : values[index(node)];
    };
    std::int64_t nodes = 1;
    for (const std::int64_t k : n) nodes *= k;
    for (std::int64_t i = 0; i < nodes; ++i) {
        std::int64_t rest = i;
        bool border = false;
        for (std::size_t k = axes; k-- > 0; rest /= n[k]) {
            at[k] = rest % n[k];
            border = border || at[k] < 3 || at[k] >= n[k] - 3;
        }
        const double here = value(at);
        if (border && here <= reach)
            throw settings
                .error("distances", "the distance at " + place() + " is " +
                                        document::shortest(here) + " m: near the border, where " +
                                        "points may leave the grid, the barrier must not reach")
                .remedy(
                    "make the grid larger than the obstacle by more than \"distance\" and three "
                    "nodes on every side");
        for (std::size_t k = 0; k < axes; ++k) {
            std::vector<std::int64_t> next = at;
            if (++next[k] >= n[k]) continue;
            const double change = std::abs(value(next) - here);
            if (change > grid.spacing * (1 + 1e-6))
                throw settings
                    .error("distances",
                           "from " + place() + " to the next along axis " + std::to_string(k) +
                               " the distance changes by " + document::shortest(change) +
                               " m, more than the spacing of " + document::shortest(grid.spacing) +
                               " m: that is no distance")
                    .remedy("give distances in meters, on nodes of this order and spacing");
        }
    }
}

std::string names_in_plane() {
    std::string names;
    for (const geometry::KindRow& row : geometry::kind_rows())
        if (row.in_plane && row.placed_by != PlacedBy::nothing)
            names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

class ObstacleOf final : public model::Instance {
public:
    ObstacleOf(const geometry::KindRow& row, std::shared_ptr<Settings> settings)
        : settings_(std::move(settings)), row_(row) {}

    void build(Model& model) override {
        const Settings& s = *settings_;
        if (!model.is_implicit())
            throw s
                .error("type",
                       "this obstacle has the response \"barrier\" only, which does not go "
                       "with the integrator semi_implicit_euler")
                .remedy("choose an implicit integrator, or planes and spheres");
        if (!row_.in_plane && model.dimension() != 3)
            throw s.error("type", fmt::format("there is no {} in the plane", row_.name))
                .remedy("take one of: " + names_in_plane());
        Form form;
        form.kind = row_.kind;
        Numbers numbers;
        const auto number = [&](const char* key) { return &s.quantity(model, key); };
        if (row_.has_axis()) {
            numbers = {.place = number("start"), .extent = number("end"), .size = number("radius")};
            const Numbers ends = numbers;
            const auto check = [settings = settings_, ends](const Quantity* changed,
                                                            Values values) {
                const Quantity* other = changed == ends.place ? ends.extent : ends.place;
                if (std::ranges::equal(values, other->values))
                    throw settings->error("end", "both ends are at one place")
                        .remedy("move one of them, or take a sphere");
            };
            for (Quantity* q : {ends.place, ends.extent})
                q->check = [check, q](Values values) { check(q, values); };
            check(ends.place, ends.place->values);
        } else if (row_.placed_by == PlacedBy::center_and_half_extents) {
            numbers = {.place = number("center"), .extent = number("half_extents")};
            if (s.written("orientation")) {
                numbers.orientation =
                    &one_value(s, model, "orientation", model.dimension() == 3 ? 4 : 1);
                if (model.dimension() == 3) {
                    numbers.orientation->check = [settings = settings_](Values q) {
                        if (std::ranges::all_of(q, [](double c) { return c == 0; }))
                            throw settings->error("orientation", "the quaternion is zero")
                                .remedy("give (w, x, y, z); no rotation is [1, 0, 0, 0]");
                    };
                    numbers.orientation->check(numbers.orientation->values);
                }
            }
        } else {
            form.grid.spacing = s.number("spacing");
            numbers.place = number("origin");
            numbers.samples = &distances(model, form.grid);
        }
        const Meeting m = meeting(s, model, form, numbers);
        if (form.is_field()) {
            const auto check = [settings = settings_, grid = form.grid](double reach,
                                                                        Values values) {
                check_samples(*settings, grid, reach, values);
            };
            numbers.samples->check = [check, reach = m.distance](Values values) {
                check(reach->values.front(), values);
            };
            m.distance->check = [check, samples = numbers.samples](Values reach) {
                check(reach.front(), samples->values);
            };
            numbers.samples->check(numbers.samples->values);
        }
        meet(model, m);
        add_contact_obstacle(model, s,
                             {.kind = row_.kind,
                              .numbers = numbers,
                              .velocity = m.velocity,
                              .grid = form.grid,
                              .range = m.range,
                              .law = "barrier",
                              .through_forces = true});
        model.draw({s.name(), model::DrawnSolid{.kind = row_.kind,
                                                .place = numbers.place,
                                                .extent = numbers.extent,
                                                .radius = numbers.size,
                                                .orientation = numbers.orientation,
                                                .velocity = m.velocity,
                                                .angular_velocity = m.angular_velocity,
                                                .samples = numbers.samples,
                                                .counts = form.grid.counts,
                                                .spacing = form.grid.spacing}});
    }
    void finish(Model& model) override { make_room(model); }

private:
    // Reads the nodes of a grid, and the distances at them.
    Quantity& distances(Model& model, geometry::FieldGrid& grid) const {
        const Settings& s = *settings_;
        const document::Node& nodes = *s.find("nodes");
        const auto axes = static_cast<std::size_t>(model.dimension());
        if (nodes.size() != axes)
            throw s
                .error("nodes", "the grid has " + std::to_string(nodes.size()) +
                                    " numbers of nodes in " + std::to_string(axes) + " dimensions")
                .remedy("give one per axis");
        std::int64_t count = 1;
        for (std::size_t k = 0; k < axes; ++k) {
            grid.counts.push_back(document::integer_of(nodes.item(k), 7, 4096));
            count *= grid.counts.back();
        }
        if (count > (std::int64_t{1} << 26))
            throw s.error("nodes", "the grid has more than 2^26 nodes").remedy("make it coarser");
        std::vector<double> places;  // from the first node, so that moving the grid changes none
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t rest = i;
            places.resize(places.size() + axes);
            for (std::size_t k = axes; k-- > 0; rest /= grid.counts[k])
                places[static_cast<std::size_t>(i) * axes + k] =
                    grid.spacing * static_cast<double>(rest % grid.counts[k]);
        }
        return s.quantity(model, "distances", count, places, grid.counts);
    }

    std::shared_ptr<Settings> settings_;
    const geometry::KindRow& row_;
};

}  // namespace

void register_obstacles(Registry& registry) {
    using namespace model;
    const auto add = [&](const geometry::KindRow& row, std::vector<Field> fields) {
        fields.push_back(
            particles::of_field().optional().doc("the body; without it, all points of the scene"));
        fields.push_back(
            choice("response", {"barrier"})
                .fallback("\"barrier\"")
                .doc("as of a plane; this obstacle has no other, and needs an implicit "
                     "integrator"));
        fields.push_back(vector("velocity")
                             .unit("m/s")
                             .optional()
                             .differentiable()
                             .doc("the obstacle moves with it, from where it is at time 0"));
        fields.push_back(angular_velocity_field());
        fields.push_back(number("friction")
                             .fallback("0")
                             .at_least(0)
                             .differentiable()
                             .doc("Coulomb's coefficient"));
        for (Field& f : response_fields()) {
            if (f.key == "stiffness") f.fallback_json.clear();  // required
            fields.push_back(std::move(f));
        }
        registry.add({Section::colliders, std::string(row.name), std::string(row.title),
                      std::string(row.obstacle_text), std::move(fields),
                      [&row](std::shared_ptr<Settings> s) {
                          return std::make_unique<ObstacleOf>(row, std::move(s));
                      },
                      true});
    };
    const auto end = [](const char* key, const char* which) {
        return vector(key).unit("m").differentiable().doc(std::string(which) + " of its axis");
    };
    for (const geometry::KindRow& row : geometry::kind_rows()) {
        if (row.placed_by == PlacedBy::ends)
            add(row,
                {end("start", "one end"), end("end", "the other end"),
                 number("radius").unit("m").positive().differentiable().doc("around the axis")});
        if (row.placed_by == PlacedBy::center_and_half_extents)
            add(row,
                {vector("center").unit("m").differentiable().doc("of the box"),
                 vector("half_extents")
                     .unit("m")
                     .positive()
                     .differentiable()
                     .doc("half of its length along each of its axes"),
                 values("orientation")
                     .optional()
                     .differentiable()
                     .doc("how it is turned about its center: in the plane an angle in rad, in "
                          "space a quaternion [w, x, y, z]; default: its axes are those of "
                          "the scene")});
        if (row.placed_by == PlacedBy::grid)
            add(row,
                {list("nodes")
                     .doc("of the grid along each axis")
                     .schema(R"({"type":"integer","minimum":7,"maximum":4096})"),
                 vector("origin").unit("m").zero().differentiable().doc("the grid's first node"),
                 number("spacing").unit("m").positive().doc("between nodes"),
                 values("distances")
                     .unit("m")
                     .differentiable()
                     .doc("from the surface, one per node: the last axis runs fastest. A "
                          "formula has the node's place x, y, z from the first node. Those of "
                          "the three outermost layers are larger than \"distance\", and "
                          "neighbors differ by the spacing at most")});
    }
}

}  // namespace hindcast::barrier
