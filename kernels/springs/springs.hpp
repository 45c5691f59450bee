// Springs between points: stiffness, damping along the spring, rest length per spring; optionally
// acting in one direction only (ropes, pushers).
//
// A spring object called NAME publishes its ends as the index array "NAME.ends" (two points of the
// scene per spring).
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_springs(Registry& registry);

namespace springs {

// Adds to `program` a launch that adds scale * sum of 1/2 k (L - r)^2 over the springs of that name
// to the f64 scalar `value`. Throws Error at the node if there are none.
void add_elastic_energy(model::Model& model, const document::Node& name, double scale,
                        const Array& value, Program& program);

}  // namespace springs
}  // namespace hindcast
