// Obstacles with the response "barrier" in scenes: the fields that all of them share, and the types
// of the kinds of shapes that a scene places as obstacles (engine/geometry/kinds/row.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/colliders/barrier.hpp"

namespace hindcast::barrier {

// The fields of contact and friction; their texts name the responses that use them.
std::vector<model::Field> response_fields();
// `before`: "barrier: " for types that have other responses too.
model::Field angular_velocity_field(const std::string& before = "");

// The quantity of a field of FieldKind::values that is one value of so many components. Throws
// Error at the field.
model::Quantity& one_value(const model::Settings& settings, model::Model& model,
                           const std::string& key, int components);

// The scene's obstacle and the points that "of" names, with the values of those fields.
Meeting meeting(const model::Settings& settings, model::Model& model, Form form,
                const Numbers& numbers);

// The types above.
void register_obstacles(Registry& registry);

}  // namespace hindcast::barrier
