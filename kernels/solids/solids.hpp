// Elastic solids of linear tetrahedra: a body of points joined by elements whose forces are the
// gradient of an energy.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_solids(Registry& registry);

namespace solids {

// Adds to `program` a launch that adds scale * sum V W, in joule, of the solid that the node names
// to `value`, W being its energy density. Throws Error at the node if there is no such solid.
void add_elastic_energy(model::Model& model, const document::Node& name, double scale,
                        const Array& value, Program& program);

}  // namespace solids
}  // namespace hindcast
