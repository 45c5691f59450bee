// The sizes of an object that are dragged in the picture: the faces of boxes and grids, the edges of a
// cloth, the ends and radii of obstacles and of rigid shapes. Pure functions of the document.
#pragma once

#include <string>
#include <vector>

#include "app/session/making/room.hpp"
#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

struct SizeHandle {
    std::string name;            // of the size: "radius", "length", "x"
    model::Place at{}, along{};  // m; the way in which it grows, a unit vector
    bool repeats = false;        // it may keep its distances and have more points or cells instead
};

// The handles of the object at "/bodies/0" or so, in an order that depends on the object alone. None
// where it has no sizes that are written as numbers.
std::vector<SizeHandle> size_handles(const document::Document& scene, const Registry& registry,
                                     const std::string& pointer);

struct Resized {
    struct Change {
        std::string pointer;
        document::Node value;
    };
    std::vector<Change> changes;
    std::string text;  // "0.4 x 0.2 m, 21 x 11 points"
};
// The changes of the scene when the handle (a number in that list) has been dragged by so much, m;
// the opposite side stays where it is. A size keeps at least a thousandth of itself. `repeats`:
// distances between points stay, their number changes. Boxes in which points are fixed stretch with
// them; springs that connect the points of a grid take its counts. Throws Error if there is none.
Resized resized(const document::Document& scene, const Registry& registry,
                const std::string& pointer, std::size_t handle, double by, bool repeats = false);

}  // namespace hindcast::session
