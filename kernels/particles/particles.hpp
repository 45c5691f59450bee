// Particles: point masses, free or fixed, integrated by symplectic (semi-implicit) Euler.
//
// Publishes the arrays that all point-based modules share, one element per point of any body:
//   position, velocity   vectors, state          force        N, the sum of what the forces of the
//   mass                 kg                                   scene add in each step
//   inverse_mass         1/kg, 0 = fixed
// and what those modules need to speak of points: the points that "of" names, and the force array.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/model/dimension.hpp"
#include "engine/model/model.hpp"

namespace hindcast {

void register_particles(Registry& registry);

namespace particles {

// The arrays above; made by the first body that asks.
struct Arrays {
    Array position, velocity, mass, inverse_mass;
};
Arrays arrays(model::Model& model);

// Adds scale times the energy of the points, in joule, to `value`, an f64 scalar: sum 1/2 m |v|^2
// and - sum m g.x, which is zero at the origin. Those of all points are published.
struct EnergyParts {
    bool kinetic = true, gravitational = true;
};
Launch energy(model::Model& model, model::Range range, EnergyParts parts, double scale,
              const Array& value, const std::string& description);

// Adds a body's points to the scene, where its field "positions" says: one vector for each.
struct Placed {
    model::Range range;
    std::vector<double> positions;  // points x dimension, m
};
// Throws Error at the field.
Placed place_points(const model::Settings& settings, model::Model& model);
// The key "reference_positions", which place_points() reads.
model::Field reference_field();

// The force array, made by the first force; kernels of forces declare it Accumulate.
Array force(model::Model& model);

// The integration of all points of a model; Model::shared() holds it.
struct Integration {
    // Adds the launches of phase position_update: x <- x + h v, unless a module sets another one in
    // build(). `force` is the force array, if there are forces.
    std::function<void(model::Model& model, const std::optional<Array>& force)> position_update;
    bool added = false;  // by integrate()
};
// Adds the velocity and the position update of all points of the scene, once; for finish(), when
// all forces are there.
void integrate(model::Model& model);

// The fixed points of a body by the field "fixed", for a Property<Int>. `positions` are those of
// the body's points, for a box; `range` gives their numbers in the scene. Throws Error at the node.
Argument fixed_points(const document::Node& node, model::Model& model, model::Range range,
                      std::span<const double> positions);
model::Field fixed_field();

// The points of the body that the optional field "of" names; without it, all points of the scene.
model::Range body_or_all(const model::Settings& settings, const model::Model& model);

// Declares that the velocities of a body's points follow from other coordinates, as a robot's from
// its joints: forces act on these points, but modules that change velocities do not. For declare().
void follow_from_coordinates(model::Model& model, const std::string& body);
bool follows_from_coordinates(model::Model& model, const std::string& body);
// body_or_all() for modules that change velocities. Throws Error, with the remedy, at "of" if that
// names such a body; and at the object if there are no other points. Bodies that are `spared` need
// nothing from the object.
model::Range body_or_all_with_velocities(
    const model::Settings& settings, model::Model& model, const std::string& remedy,
    const std::function<bool(const std::string& body)>& spared = {});

// The point of work item i in a range: i + first. No two items have the same. The kernel is made for
// that range: with its number known, what it reads and writes stands side by side.
inline lang::Int point_at(const lang::Int& i, std::int64_t first) {
    return lang::injective(i + static_cast<std::int32_t>(first));
}

// The points of the body that the field "of" names, or those of them that "points" lists.
struct Selection {
    model::Range body;
    bool listed = false;
    std::vector<std::int64_t> points;  // of the scene, if listed
    Array index;                       // the same for kernels

    std::int64_t count() const {
        return listed ? static_cast<std::int64_t>(points.size()) : body.count;
    }
    // The point of item i; a kernel has both parameters, "first" and "index", and uses one.
    lang::Int point(const lang::Int& i, const lang::Param<lang::Int>& first,
                    const lang::Read<lang::Int>& index_of) const {
        return listed ? index_of[i] : i + first.value();
    }
    // The argument of the parameter that kernels use.
    NamedArgument argument() const {
        return listed ? NamedArgument("index", index) : NamedArgument("first", body.first);
    }
};
// The selection of a published kernel with the option below; the launch supplies the numbers.
inline Selection selection_of(const model::Settings& options) {
    Selection selection;
    selection.listed = options.boolean("listed");
    return selection;
}
inline model::Field listed_option() {
    return model::boolean("listed").fallback("false").doc("j is index_i; without, j is first + i");
}
Selection select_points(const model::Settings& settings, model::Model& model);
// The field rows that select_points() reads.
model::Field of_field();
model::Field points_field();

}  // namespace particles
}  // namespace hindcast
