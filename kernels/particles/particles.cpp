// One step, semi-implicit Euler: v <- v + h (g + f / m), x <- x + h v. Fixed points (inverse mass
// 0) keep their velocity, which is zero unless written: a fixed point with a velocity moves on a
// straight line.
#include "kernels/particles/particles.hpp"

#include <algorithm>
#include <set>

#include "engine/base/pages.hpp"
#include "engine/document/read.hpp"
#include "engine/model/value_request.hpp"
#include "kernels/particles/contact_bodies.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/offers.hpp"
#include "kernels/particles/point_names.hpp"
#include "kernels/particles/small_motions.hpp"

namespace hindcast {

namespace particles {

using namespace lang;
using model::Field;
using model::for_dimension;
using model::Model;
using model::Phase;
using model::Settings;

namespace {

template <int D>
KernelDef initialize() {
    using V = Vec<Float, D>;
    return kernel("particles_initialize",
                  {"positions", "velocity", "mass", "fixed", "first", "x", "v", "m", "w"},
                  [](Int i, Read<V> positions, Property<V> velocity, Property<Float> mass,
                     Property<Int> fixed, Param<Int> first, Write<V> x, Write<V> v, Write<Float> m,
                     Write<Float> w) {
                      const Int j = injective(i + first.value());
                      x[j] = positions[i];
                      v[j] = velocity[i];
                      m[j] = mass[i];
                      w[j] = select(fixed[i] == 0, 1.0 / mass[i], Float(0));
                  });
}

KernelDef set_radius() {
    return kernel("particles_radius", {"radius", "first", "radii"},
                  [](Int i, Property<Float> radius, Param<Int> first, Write<Float> radii) {
                      radii[injective(i + first.value())] = radius[0];
                  });
}

// One for each point of the scene, 0 for those of other bodies.
Array radii(Model& model) {
    if (!model.has_array("radius"))
        model.add_array("radius", model.point_count(), 1,
                        {.unit = "m", .meaning = "radius of each point as a ball, 0: a point"});
    return model.array("radius");
}

template <int D>
KernelDef update_velocity(bool forced) {
    using V = Vec<Float, D>;
    return kernel(forced ? "velocity_update" : "velocity_update_free",
                  {"w", "force", "gravity", "h", "v"},
                  [forced](Int i, Read<Float> w, Read<V> force, Property<V> gravity, Param<Float> h,
                           ReadWrite<V> v) {
                      const V old = v[i];
                      const V acceleration = forced ? gravity[0] + force[i] * w[i] : gravity[0];
                      v[i] = select(w[i] > 0.0, old + acceleration * h.value(), old);
                  });
}

template <int D>
KernelDef update_position() {
    using V = Vec<Float, D>;
    return kernel(
        "position_update", {"v", "h", "x"},
        [](Int i, Read<V> v, Param<Float> h, ReadWrite<V> x) { x[i] += v[i] * h.value(); });
}

template <int D>
KernelDef point_energy(EnergyParts parts) {
    using V = Vec<Float, D>;
    return kernel("point_energy", {"x", "v", "mass", "gravity", "first", "scale", "value"},
                  [parts](Int i, Read<V> x, Read<V> v, Read<Float> mass, Property<V> gravity,
                          Param<Int> first, Param<Float> scale, Reduce<Float> value) {
                      const Int j = i + first.value();
                      Float energy;
                      if (parts.kinetic) energy += 0.5 * dot(v[j], v[j]);
                      if (parts.gravitational) energy -= dot(gravity[0], x[j]);
                      value += mass[j] * energy * scale.value();
                  });
}

void publish_energy(Model& model, const std::string& name, EnergyParts parts) {
    model.publish_energy(
        {"particles", "", name,
         [name, parts](Model& m, double scale, const Array& value, Program& program) {
             program.add(energy(m, {0, m.point_count()}, parts, scale, value, name));
         }});
}

void publish_kernels(Registry& registry) {
    using model::boolean;
    using model::PublishedKernel;
    const PublishedKernel::Parameter w{"w", "1 / mass of the points, 1/kg; 0: fixed"},
        h{"h", "the step, s"}, x{"x", "positions, m"}, v{"v", "velocities, m/s"},
        gravity{"gravity", "g, m/s^2"};
    registry.publish({"velocity_update",
                      "One item per point: v <- v + h (g + w force) where w > 0.",
                      {model::dimension_option(),
                       boolean("forced").fallback("true").doc("with a force; without, v + h g")},
                      {w, {"force", "N"}, gravity, h, v},
                      [](const Settings& options) {
                          return for_dimension(options, [&](auto D) {
                              return update_velocity<D>(options.boolean("forced"));
                          });
                      }});
    registry.publish({"position_update",
                      "One item per point: x <- x + h v.",
                      {model::dimension_option()},
                      {v, h, x},
                      [](const Settings& options) {
                          return for_dimension(options,
                                               [](auto D) { return update_position<D>(); });
                      }});
    registry.publish(
        {"point_energy",
         "One item per point j = first + i: value += scale mass (|v|^2 / 2 - g.x).",
         {model::dimension_option(), boolean("kinetic").fallback("true").doc("with |v|^2 / 2"),
          boolean("gravitational").fallback("true").doc("with -g.x, zero at the origin")},
         {x,
          v,
          {"mass", "kg"},
          gravity,
          {"first", "number of the first point"},
          {"scale", "a factor"},
          {"value", "a sum, J"}},
         [](const Settings& options) {
             const EnergyParts parts{options.boolean("kinetic"), options.boolean("gravitational")};
             if (!parts.kinetic && !parts.gravitational)
                 throw options.error("kinetic", "this energy has no part")
                     .remedy("let kinetic or gravitational be true");
             return for_dimension(options, [&](auto D) { return point_energy<D>(parts); });
         }});
}

class Particles final : public model::Instance {
public:
    explicit Particles(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void declare(Model& model) override {
        placed_ = place_points(*settings_, model);
        const double radius = settings_->written("radius") ? settings_->number("radius") : 0;
        model.draw({settings_->name(),
                    model::DrawnPoints{placed_.range.first, placed_.range.count, radius}});
    }

    void build(Model& model) override {
        const Arrays a = arrays(model);
        const std::int64_t n = placed_.range.count;
        const Argument position = settings_->quantity(model, "positions", n).argument();
        const Argument velocity =
            settings_->quantity(model, "velocity", n, placed_.positions).argument();
        const model::Quantity& masses = settings_->quantity(model, "mass", n, placed_.positions);
        const Argument mass = masses.argument();
        SmallMotions& motions = SmallMotions::of(model);
        for (std::int64_t p = 0; p < n; ++p)
            motions.add_mass(placed_.range.first + p,
                             masses.values[masses.shared ? 0 : static_cast<std::size_t>(p)]);
        const KernelDef kernel =
            for_dimension(model, [](auto dimension) { return initialize<dimension>(); });
        model.prologue().add(model.launch(
            kernel, n,
            {{"positions", position},
             {"velocity", velocity},
             {"mass", mass},
             {"fixed",
              fixed_points(*settings_->find("fixed"), model, placed_.range, placed_.positions)},
             {"first", placed_.range.first},
             {"x", a.position},
             {"v", a.velocity},
             {"m", a.mass},
             {"w", a.inverse_mass}},
            "initialize " + settings_->name()));
        if (!settings_->written("radius")) return;
        model::Quantity& radius = settings_->quantity(model, "radius");
        radius.used_at_load = true;  // declare() draws the points with it
        model.prologue().add(model.launch(set_radius(), n,
                                          {{"radius", radius.argument()},
                                           {"first", placed_.range.first},
                                           {"radii", radii(model)}},
                                          "radius of " + settings_->name()));
    }

    void finish(Model& model) override { integrate(model); }

private:
    std::shared_ptr<Settings> settings_;
    Placed placed_;
};

}  // namespace

model::Field reference_field() {
    return model::vectors("reference_positions")
        .unit("m")
        .optional()
        .doc(
            "what is made once, when the scene is loaded, is made from these positions: rest "
            "lengths that are \"initial\", formulas in x, y, z, selections by box. Without them "
            "from \"positions\" as the scene was loaded: they stay as they are where positions "
            "are then optimized, set (--set) or varied (--vary), and a scene that is saved after "
            "that writes this key");
}

Placed place_points(const Settings& settings, Model& model) {
    document::ValueRequest request = model::value_request(model);
    request.components = model.dimension();
    const document::Values positions = document::evaluate(*settings.find("positions"), request);
    if (positions.shared)
        throw settings.error("positions", "one position is given where a list is expected")
            .remedy("write a list of vectors, or a generator");
    // Measured: a point takes this until its scene runs.
    if (const std::string lack = lack_of_memory(150.0 * static_cast<double>(positions.count));
        !lack.empty())
        throw settings.error("positions", std::to_string(positions.count) + " points need " + lack)
            .remedy("place fewer points");
    Placed placed{model.add_points(settings.name(), positions.count), positions.rows()};
    if (const document::Node* reference = settings.find("reference_positions")) {
        request.count = positions.count;
        placed.positions = document::evaluate(*reference, request).rows();
    } else {
        // Other positions that were set after the scene was loaded, if they are of as many points.
        const document::Values loaded =
            document::evaluate(*settings.find_loaded("positions"), request);
        if (loaded.count == positions.count) placed.positions = loaded.rows();
        model.keep({settings.name() + ".positions",
                    settings.node().pointer() + "/reference_positions", placed.positions,
                    model.dimension(), false});
    }
    model.set_initial_points(placed.range.first, placed.positions);
    return placed;
}

Launch energy(Model& model, model::Range range, EnergyParts parts, double scale, const Array& value,
              const std::string& description) {
    return model.launch(
        for_dimension(model, [&](auto dimension) { return point_energy<dimension>(parts); }),
        range.count,
        {{"x", model.array("position")},
         {"v", model.array("velocity")},
         {"mass", model.array("mass")},
         {"gravity", model.find_quantity("gravity")->argument()},
         {"first", range.first},
         {"scale", scale},
         {"value", value}},
        description);
}

Arrays arrays(Model& model) {
    if (!model.has_array("position")) {
        const std::int64_t n = model.point_count();
        model.add_array("position", n, model.dimension(),
                        {.unit = "m", .meaning = "position of each point", .state = true});
        model.add_array("velocity", n, model.dimension(),
                        {.unit = "m/s", .meaning = "velocity of each point", .state = true});
        model.add_array("mass", n, 1, {.unit = "kg", .meaning = "mass of each point"});
        model.add_array("inverse_mass", n, 1,
                        {.unit = "1/kg", .meaning = "1 / mass of each point, 0: fixed"});
        publish_energy(model, "kinetic energy", {.gravitational = false});
        publish_energy(model, "gravitational energy", {.kinetic = false});
    }
    return {model.array("position"), model.array("velocity"), model.array("mass"),
            model.array("inverse_mass")};
}

Array force(Model& model) {
    if (!model.has_array("force"))
        model.add_array("force", model.point_count(), model.dimension(),
                        {.unit = "N",
                         .meaning = "sum of the forces on each point, without gravity",
                         .defined_anew = true});
    return model.array("force");
}

Argument fixed_points(const document::Node& node, Model& model, model::Range range,
                      std::span<const double> positions) {
    std::vector<char>& all = model.shared<FixedPoints>().flags;
    all.resize(static_cast<std::size_t>(model.point_count()), 0);
    const auto note = [&](std::int64_t point) {
        all[static_cast<std::size_t>(range.first + point)] = 1;
    };
    if (!node.is_array() && !node.is_object()) {
        const bool fixed = document::boolean_of(node);
        for (std::int64_t p = 0; fixed && p < range.count; ++p) note(p);
        return fixed ? 1 : 0;
    }
    const auto flagged = [&](const std::vector<std::int64_t>& flags) {
        for (std::size_t p = 0; p < flags.size(); ++p)
            if (flags[p] != 0) note(static_cast<std::int64_t>(p));
        return model.index_array(flags, 1);
    };
    const std::size_t dimension = static_cast<std::size_t>(model.dimension());
    std::vector<std::int64_t> flags(positions.size() / dimension, 0);
    if (node.is_array()) {
        for (std::size_t k = 0; k < node.size(); ++k)
            flags[static_cast<std::size_t>(document::integer_of(
                node.item(k), 0, static_cast<std::int64_t>(flags.size()) - 1))] = 1;
        return flagged(flags);
    }
    document::Reader reader(node, "a selection of points");
    document::Reader box = reader.object("box", "a box");
    const std::vector<double> low = document::numbers_of(box.require("min"), dimension);
    const std::vector<double> high = document::numbers_of(box.require("max"), dimension);
    box.finish();
    reader.finish();
    bool any = false;
    for (std::size_t i = 0; i < flags.size(); ++i) {
        bool inside = true;
        for (std::size_t a = 0; a < dimension; ++a) {
            const double x = positions[i * dimension + a];
            inside &= low[a] <= x && x <= high[a];
        }
        flags[i] = inside ? 1 : 0;
        any |= inside;
    }
    if (!any)
        throw document::fault(node, "no point lies in this box")
            .remedy("write false if no point is fixed");
    return flagged(flags);
}

void integrate(Model& model) {
    Integration& integration = model.shared<Integration>();
    if (integration.added) return;
    integration.added = true;
    add_contact_bodies(model);
    check_time_step(model);
    if (model.is_implicit()) return integrate_implicitly(model);
    const Arrays a = arrays(model);
    const std::int64_t n = model.point_count();
    const bool forced = model.has_array("force");
    std::vector<NamedArgument> arguments{{"w", a.inverse_mass},
                                         {"gravity", model.find_quantity("gravity")->argument()},
                                         {"h", model.step()},
                                         {"v", a.velocity}};
    if (forced) arguments.emplace_back("force", model.array("force"));
    model.add(
        Phase::velocity_update,
        model.launch(for_dimension(
                         model, [&](auto dimension) { return update_velocity<dimension>(forced); }),
                     n, arguments, "velocity update"));
    if (integration.position_update)
        return integration.position_update(
            model, forced ? std::optional(model.array("force")) : std::nullopt);
    model.add(
        Phase::position_update,
        model.launch(
            for_dimension(model, [](auto dimension) { return update_position<dimension>(); }), n,
            {{"v", a.velocity}, {"h", model.step()}, {"x", a.position}}, "position update"));
    model.set_integrator({a.position, a.velocity, a.inverse_mass});
}

model::Range body_or_all(const Settings& settings, const Model& model) {
    if (settings.find("of") != nullptr) return settings.points(model, "of");
    return {0, model.point_count()};
}

namespace {

struct BodiesByCoordinates {
    std::set<std::string> names;
};

}  // namespace

void follow_from_coordinates(Model& model, const std::string& body) {
    model.shared<BodiesByCoordinates>().names.insert(body);
}

bool follows_from_coordinates(Model& model, const std::string& body) {
    return model.shared<BodiesByCoordinates>().names.contains(body);
}

model::Range body_or_all_with_velocities(const Settings& settings, Model& model,
                                         const std::string& remedy,
                                         const std::function<bool(const std::string&)>& spared) {
    if (model.options().integrator == model::Integrator::quasi_static)
        throw settings
            .error("type", "'" + settings.name() +
                               "' changes velocities, which move nothing in a quasi-static scene")
            .remedy("remove it, or choose the integrator implicit_euler or bdf2");
    const std::set<std::string>& led = model.shared<BodiesByCoordinates>().names;
    const auto fault = [&](const char* key, const std::string& body) {
        return settings
            .error(key, "'" + settings.name() + "' changes velocities of points, and those of '" +
                            body + "' follow from its joints")
            .remedy(remedy);
    };
    const auto is_led = [&](const auto& body) { return led.contains(body.first); };
    const model::Range range = body_or_all(settings, model);
    if (const document::Node* of = settings.find("of")) {
        if (led.contains(of->string())) throw fault("of", of->string());
    } else if (!led.empty() && std::ranges::all_of(model.bodies_with_points(), is_led)) {
        for (const std::string& body : led)
            if (!spared || !spared(body)) throw fault("type", body);
    }
    return range;
}

Selection select_points(const Settings& settings, Model& model) {
    Selection selection;
    selection.body = settings.points(model, "of");
    if (const document::Node* list = settings.find("points")) {
        document::array_of(*list, 1);
        std::set<std::int64_t> seen;
        for (std::size_t k = 0; k < list->size(); ++k) {
            const std::int64_t point =
                point_of(list->item(k), settings.find("of")->string(), selection.body, model);
            if (!seen.insert(point).second)
                throw document::fault(list->item(k),
                                      "point " + std::to_string(point) + " is listed twice");
            selection.points.push_back(selection.body.first + point);
        }
        selection.listed = true;
        selection.index = model.index_array(selection.points, 1);
    }
    return selection;
}

Field fixed_field() {
    return model::any("fixed")
        .fallback("false")
        .doc(
            "forces and gravity do not move these points: true for all of them, the list of the "
            "numbers of those that are fixed, or {\"box\": {\"min\": ..., \"max\": ...}}: those in "
            "a "
            "box, its border included, before anything moves")
        .schema(R"({"oneOf":[{"title":"all or none","type":"boolean"},)"
                R"({"title":"these points","type":"array",)"
                R"("items":{"type":"integer","minimum":0,"means":"point"}},)"
                R"({"title":"those in a box","type":"object","required":["box"],)"
                R"("additionalProperties":false,)"
                R"("properties":{"box":{"$ref":"#/$defs/limits"}}}]})");
}

Field of_field() { return model::body("of").doc("the body"); }

Field points_field() {
    return model::list("points")
        .optional()
        .doc(
            "these points of the body only: their numbers, or their names: of a robot those of "
            "bodies and sites")
        .schema(R"({"anyOf":[{"type":"integer","minimum":0,"means":"point"},{"type":"string"}]})");
}

}  // namespace particles

void register_particles(Registry& registry) {
    using namespace model;
    offer_particles(registry);
    particles::publish_kernels(registry);
    registry.add(
        {Section::bodies,
         "particles",
         "Points",
         "Point masses, moved by semi-implicit Euler: v <- v + h (g + f/m), x <- x + h v. Fixed "
         "particles keep their velocity.",
         {vectors("positions")
              .schema(R"({"$ref":"#/$defs/counted"})")
              .unit("m")
              .differentiable()
              .doc("where each particle starts: a list of vectors, a grid, a box or a file"),
          particles::reference_field(),
          vectors("velocity")
              .unit("m/s")
              .zero()
              .differentiable()
              .doc("initial velocity, one for the body or one per particle"),
          values("mass").unit("kg").fallback("1").positive().differentiable().doc(
              "mass of each particle"),
          number("radius").unit("m").optional().at_least(0).differentiable().doc(
              "of each particle as a ball: for the collider particle_contact and the response "
              "impact "
              "of the others; without it a particle is a point"),
          particles::fixed_field()},
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<particles::Particles>(std::move(s));
         },
         true});
}

}  // namespace hindcast
