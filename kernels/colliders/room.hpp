// Moving obstacles and the points in their way.
//
// The energies of a barrier see an obstacle where it is at the end of the step. Before the minimum is
// looked for, points that it would come too near to are moved, just so far that they keep their
// distance, or half of its reach. All obstacles are looked at together, and time advances in parts,
// as far as no obstacle can come to a point in: with d the distance of a point, n the normal and a
// convex obstacle that moves by v and turns by r t in the part t of a step, the plane through the
// nearest point bounds it, and no point is met while (n.v + |r| radius) t < d (conservative
// advancement; for a distance field, with the lengths of the ways). So no point is ever passed, or
// pushed through another obstacle. A point that has no room is an error.
//
// The minimum does not depend on the start of the search for it: no derivatives.
#pragma once

#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/colliders/obstacle.hpp"

namespace hindcast::barrier {

struct RoomObstacle {
    std::string name;
    Form form;
    model::Range range;                   // of the points that it meets
    std::vector<NamedArgument> obstacle;  // of with_obstacle()
    Argument reach;
};

void add_to_room(model::Model& model, RoomObstacle obstacle);

// Once, when all obstacles were added; does nothing where none moves.
void make_room(model::Model& model);

}  // namespace hindcast::barrier
