// Moving obstacles and the points in their way.
//
// The energies of a barrier see an obstacle at its place at the end of the step. Before the search
// for the minimum, points that it would come too near to are moved, just so far that they keep
// their distance, or half of its reach. All obstacles move at once, and time advances in parts in
// which no obstacle can reach a point: with d the distance of a point, n the normal and a convex
// obstacle that moves by v t and turns by r t in the part t of a step, the plane through the
// nearest point bounds it, and it meets no point while (n.v + |r| radius) t < d (conservative
// advancement; for a distance field, with the lengths of the ways). So no obstacle passes a point
// or pushes it through another obstacle. A point without room is an error.
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

// Called after all obstacles were added; the first call adds the launches, if any obstacle moves.
void make_room(model::Model& model);

}  // namespace hindcast::barrier
