// Obstacles with the response "barrier" in scenes: the fields that all of them share, and the types
// capsule, box, cylinder, cone and distance_field.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/colliders/barrier.hpp"

namespace hindcast::barrier {

// The field rows of contact and friction by a barrier; `response` says "barrier: " before each where
// other responses have fields, too.
std::vector<model::Field> response_fields();
model::Field angular_velocity_field(const std::string& before = "");

// The quantity of a field of FieldKind::values whose numbers are one value: `components` of them.
// Throws Error at the field.
model::Quantity& one_value(const model::Settings& settings, model::Model& model,
                           const std::string& key, int components);

// The meeting of the scene's obstacle and the points that "of" names: what those fields say.
Meeting meeting(const model::Settings& settings, model::Model& model, Form form,
                const Numbers& numbers);

// The types above.
void register_obstacles(Registry& registry);

}  // namespace hindcast::barrier
