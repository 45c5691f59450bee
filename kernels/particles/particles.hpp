// Particles: point masses, free or fixed, integrated by symplectic (semi-implicit) Euler.
//
// Publishes the arrays that all point-based modules share, one element per point of any body:
//   position, velocity   vectors, state          force        N, defined anew in each step by the
//   mass                 kg                                   first force of the scene
//   inverse_mass         1/kg, 0 = fixed
// and what those modules need to speak of points: the points that "of" names, and the force array.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

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

// The force array, made by the first force. Call once per launch that adds to it: where `defines`
// is true the launch declares it Sum, otherwise Accumulate.
struct Force {
    Array array;
    bool defines = false;
};
Force force(model::Model& model);

// What moves all points in phase position_update: x <- x + h v, unless a module has more to say (its
// build() sets it, Model::shared() holds it). `force` is the force array, if there are forces.
struct PositionUpdate {
    std::function<void(model::Model& model, const std::optional<Array>& force)> add;
};
// Adds the velocity and the position update of all points of the scene, once; for finish(), when
// all forces are there.
void integrate(model::Model& model);

// Which points of a body are fixed, for a Property<Int>: what the field "fixed" says. `positions`
// are those of the body's points, for a box. Throws Error at the node.
Argument fixed_points(const document::Node& node, const model::Model& model,
                      std::span<const double> positions);
model::Field fixed_field();

// A kernel for points of two or three components: f gets the dimension as a constant.
template <class F>
auto for_dimension(std::int64_t dimension, F f) {
    if (dimension == 2) return f(std::integral_constant<int, 2>{});
    return f(std::integral_constant<int, 3>{});
}
template <class F>
auto for_dimension(const model::Model& model, F f) {
    return for_dimension(model.dimension(), f);
}
// The same for a kernel that is published, whose option "dimension" says which.
template <class F>
auto for_dimension(const model::Settings& options, F f) {
    return for_dimension(options.integer("dimension"), f);
}
// And for one that adds forces: f gets the dimension and lang::Sum or lang::Accumulate as template
// arguments; the option "adds" says which.
template <class F>
lang::KernelDef for_adding(const model::Settings& options, F f) {
    const bool to_zero = options.choice("adds") == "to_zero";
    return for_dimension(options, [&](auto dimension) {
        if (to_zero) return f.template operator()<dimension(), lang::Sum>();
        return f.template operator()<dimension(), lang::Accumulate>();
    });
}

// The points of the body that the optional field "of" names; without it, all points of the scene.
model::Range body_or_all(const model::Settings& settings, const model::Model& model);

// The point of work item i in a range: i + first. No two items have the same.
inline lang::Int point_at(const lang::Int& i, const lang::Param<lang::Int>& first, bool from_zero) {
    return from_zero ? i : lang::injective(i + first.value());
}

// The points of the body that the field "of" names, or those of them that "points" lists.
struct Selection {
    model::Range body;
    bool listed = false;
    std::vector<std::int64_t> points;  // of the scene, if listed
    Array index;                       // the same for kernels; one unused element if not listed

    std::int64_t count() const {
        return listed ? static_cast<std::int64_t>(points.size()) : body.count;
    }
    // The point of item i; a kernel has both parameters and uses one.
    lang::Int point(const lang::Int& i, const lang::Param<lang::Int>& first,
                    const lang::Read<lang::Int>& index_of) const {
        return listed ? index_of[i] : i + first.value();
    }
};
// Of a published kernel with the option below; its numbers are the launch's business.
inline Selection selection_of(const model::Settings& options) {
    Selection selection;
    selection.listed = options.boolean("listed");
    return selection;
}
inline model::Field listed_option() {
    return model::boolean("listed").fallback("false").doc("j is index_i; without, j is first + i");
}
Selection select_points(const model::Settings& settings, const model::Model& model);
// The field rows that select_points() reads.
model::Field of_field();
model::Field points_field();

}  // namespace particles
}  // namespace hindcast
