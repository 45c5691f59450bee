#include "kernels/colliders/obstacle_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/particles/contact_bodies.hpp"

namespace hindcast::barrier {

using model::Model;
using model::Quantity;

double norm_of(std::span<const double> v) {
    double square = 0;
    for (const double c : v) square += c * c;
    return std::sqrt(square);
}

model::HalfSpace half_space_of(std::span<const double> normal, double offset) {
    model::HalfSpace half;
    const double length = norm_of(normal);
    for (std::size_t k = 0; k < normal.size() && length > 0; ++k)
        half.normal[k] = normal[k] / length;
    half.offset = offset;
    return half;
}

namespace {

// A box around the obstacle, however it is turned; or the half-space of a plane.
model::Bounds bounds_of(const ContactObstacle& of, int dimension, double half_diagonal,
                        double time) {
    const auto D = static_cast<std::size_t>(dimension);
    std::vector<double> place = of.numbers.place->values;
    std::vector<double> way(D, 0.0);
    if (of.velocity != nullptr)
        for (std::size_t k = 0; k < D; ++k) way[k] = of.velocity->values[k] * time;
    model::Bounds bounds;
    if (of.solid == Solid::plane) {
        model::HalfSpace half = half_space_of(place, of.numbers.size->values.front());
        for (std::size_t k = 0; k < D; ++k) half.offset += half.normal[k] * way[k];
        bounds.half_spaces.push_back(half);
        return bounds;
    }
    double radius = half_diagonal;
    model::Box box;
    if (of.solid == Solid::sphere || of.solid == Solid::capsule || of.solid == Solid::cylinder)
        radius = of.numbers.size->values.front();
    if (of.solid == Solid::cylinder) radius *= std::sqrt(2.0);  // its rims, along any axis
    if (of.solid == Solid::box) radius = norm_of(of.numbers.extent->values);
    if (of.solid == Solid::distance_field)
        for (std::size_t k = 0; k < D; ++k)
            place[k] += 0.5 * of.field->spacing * static_cast<double>(of.field->counts[k] - 1);
    for (std::size_t k = 0; k < D; ++k) place[k] += way[k];
    box.add(place.data(), dimension, radius);
    if (of.solid == Solid::capsule || of.solid == Solid::cylinder) {
        std::vector<double> end = of.numbers.extent->values;
        for (std::size_t k = 0; k < D; ++k) end[k] += way[k];
        box.add(end.data(), dimension, radius);
    }
    bounds.boxes.push_back(box);
    return bounds;
}

// Across its thinnest part, m; 0: not known, or as thick as one likes.
double thickness_of(const ContactObstacle& of) {
    switch (of.solid) {
        case Solid::sphere:
        case Solid::capsule:
        case Solid::cylinder: return 2 * of.numbers.size->values.front();
        case Solid::box: return 2 * std::ranges::min(of.numbers.extent->values);
        default: return 0;
    }
}

}  // namespace

void add_contact_obstacle(Model& model, const model::Settings& settings,
                          const ContactObstacle& obstacle) {
    const std::string& name = settings.name();
    const double half_diagonal = obstacle.field != nullptr ? obstacle.field->half_diagonal() : 0;
    // The form lives as long as the build; the bounds ask for it later.
    model.contact_pairs().add(
        {.name = name,
         .pointer = settings.node().pointer(),
         .extent = model::Extent::obstacle,
         .moves = false,
         .several = false,
         .bounds = [of = obstacle, field = obstacle.field != nullptr ? *obstacle.field : Form{},
                    half_diagonal, dimension = model.dimension()](double time) mutable {
             of.field = &field;
             return bounds_of(of, dimension, half_diagonal, time);
         }});
    particles::keep_apart(model, name, obstacle.range, obstacle.law, obstacle.through_forces);
    const double thickness = thickness_of(obstacle);
    if (thickness == 0) return;
    for (const auto& [body, range] : model.bodies_with_points()) {
        if (!range.overlaps(obstacle.range)) continue;
        const double edge = particles::longest_edge(model, body);
        if (edge <= thickness) continue;
        model.warnings().add(
            {.identifier = "coarse_mesh",
             .happened = fmt::format("'{}' is {:.3g} m across, and the edges of '{}' are up to "
                                     "{:.3g} m long: it can pass between points, which alone touch",
                                     name, thickness, body, edge),
             .remedy = "make the mesh finer or the obstacle thicker",
             .pointer = settings.node().pointer(),
             .numbers = {{"thickness", thickness}, {"edge", edge}}});
    }
}

}  // namespace hindcast::barrier
