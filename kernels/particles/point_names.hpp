// Points as people speak of them: by number or name in a scene, as "point 3 of 'block'" in an error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/document/node.hpp"
#include "engine/model/model.hpp"

namespace hindcast::particles {

// A point's number within its body: as written, or by its name if the body's points have names.
// Throws Error at the node.
std::int64_t point_of(const document::Node& node, const std::string& body, model::Range range,
                      model::Model& model);

// "point 3 of 'block'", or "point 'torso' of 'robot'" if it has a name. `point`: of the scene.
std::string point_name(model::Model& model, std::int64_t point);

// Places of all points of the scene before the first step, point_count x dimension. For build().
std::vector<double> start_points(model::Model& model);

}  // namespace hindcast::particles
