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
model::Bounds bounds_of(const ContactObstacle& of, int dimension, double time) {
    const auto D = static_cast<std::size_t>(dimension);
    std::vector<double> place = of.numbers.place->values;
    std::vector<double> way(D, 0.0);
    if (of.velocity != nullptr)
        for (std::size_t k = 0; k < D; ++k) way[k] = of.velocity->values[k] * time;
    model::Bounds bounds;
    if (of.kind == ShapeKind::plane) {
        model::HalfSpace half = half_space_of(place, of.numbers.size->values.front());
        for (std::size_t k = 0; k < D; ++k) half.offset += half.normal[k] * way[k];
        bounds.half_spaces.push_back(half);
        return bounds;
    }
    const PlacedBy placed_by = geometry::row(of.kind).placed_by;
    double radius = of.grid.half_diagonal();
    if (of.numbers.size != nullptr) radius = of.numbers.size->values.front();
    if (placed_by == PlacedBy::center_and_half_extents) radius = norm_of(of.numbers.extent->values);
    if (placed_by == PlacedBy::grid)
        for (std::size_t k = 0; k < D; ++k) place[k] += of.grid.half_extent(k);
    model::Box box;
    const auto add = [&](std::vector<double> center) {
        for (std::size_t k = 0; k < D; ++k) center[k] += way[k];
        box.add(center.data(), dimension, radius);
    };
    add(place);
    if (placed_by == PlacedBy::ends) add(of.numbers.extent->values);
    bounds.boxes.push_back(box);
    return bounds;
}

// The thickness of its thinnest part, m; 0: not known, or unbounded.
double thickness_of(const ContactObstacle& of) {
    if (of.kind == ShapeKind::plane) return 0;
    if (of.numbers.size != nullptr) return 2 * of.numbers.size->values.front();
    return of.numbers.extent != nullptr ? 2 * std::ranges::min(of.numbers.extent->values) : 0;
}

}  // namespace

void add_contact_obstacle(Model& model, const model::Settings& settings,
                          const ContactObstacle& obstacle) {
    const std::string& name = settings.name();
    model.contact_pairs().add(
        {.name = name,
         .pointer = settings.node().pointer(),
         .extent = model::Extent::obstacle,
         .moves = false,
         .several = false,
         .bounds = [of = obstacle, dimension = model.dimension()](double time) {
             return bounds_of(of, dimension, time);
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
