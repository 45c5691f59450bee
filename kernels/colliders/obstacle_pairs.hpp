// Obstacles in the table of pairs that can touch (engine/model/warnings/contact_pairs.hpp).
#pragma once

#include <span>
#include <string>

#include "engine/model/model.hpp"
#include "kernels/colliders/barrier.hpp"

namespace hindcast::barrier {

double norm_of(std::span<const double> v);
// n.x < offset, n the unit vector along `normal`.
model::HalfSpace half_space_of(std::span<const double> normal, double offset);

// An obstacle of the scene, the range of its points, and its response.
struct ContactObstacle {
    ShapeKind kind = ShapeKind::plane;
    Numbers numbers;
    const model::Quantity* velocity = nullptr;  // m/s; null: none
    geometry::FieldGrid grid = {};              // of a distance field
    model::Range range;
    std::string law;              // "impact"
    bool through_forces = false;  // not by velocities
};
// Adds it, and the pairs that it keeps apart. Warns if it is thinner than the edges of a body are
// long, since only the body's points touch it. For build().
void add_contact_obstacle(model::Model& model, const model::Settings& settings,
                          const ContactObstacle& obstacle);

}  // namespace hindcast::barrier
