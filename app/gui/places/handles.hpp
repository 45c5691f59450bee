// The handles of the selected object that the gizmo can move: positions in the scene file, such as
// the target of an objective, the positions of a body, the plane of a collider. Pure functions of
// the document, so that they can be tested without a window.
//
// The registry's rows tell which fields are positions: vectors in meters. Special cases are planes,
// given by a normal and an offset, and solids that start at rest, which are where their mesh is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::gui {

// Column-major, as ImGuizmo takes it.
using Matrix = std::array<float, 16>;
Matrix translation(const render::Vec3& by);
render::Vec3 transform(const Matrix& matrix, const render::Vec3& place);
render::Vec3 rotate(const Matrix& matrix, const render::Vec3& direction);

struct Handle {
    enum class Kind {
        place,   // one vector
        places,  // a list of vectors, moved together
        origin,  // of a grid
        box,     // corners "min" and "max" of a generator or a mesh
        plane    // normal and offset of the object
    };
    Kind kind = Kind::place;
    std::string pointer;  // of the value; of the object for planes
    std::string key;      // "target"
    render::Vec3 center{};
    bool turns = false;      // rotation has an effect
    std::string along = {};  // a box that fixes points of the body and moves with them, or ""
};

struct Handles {
    std::vector<Handle> all;
    // Why the object cannot be moved or rotated: "its positions are written as a formula, ...".
    // Empty if it can, and if it is no object of the scene.
    std::string not_moved, not_turned;
};
// The handles of "/objective/0" and so on. A part that is a point of a body, or a position of a
// force or an objective, chooses one vector of a list; without a part all vectors move.
Handles handles_of(const document::Document& scene, const Registry& registry,
                   const std::string& object, const render::Element& part, int dimension);

// The values after the transformation `by` in world coordinates, each with its pointer.
struct Change {
    std::string pointer;
    document::Node value;
};
std::vector<Change> moved(const document::Document& scene, const Handle& handle, const Matrix& by,
                          int dimension);

}  // namespace hindcast::gui
