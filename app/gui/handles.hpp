// What of the selected object the gizmo can take hold of: a place in the scene file, such as the
// target of an objective, the positions of a body, the plane of a collider. Pure functions of the
// document, so that they can be tested without a window.
//
// Which fields are places is read off the registry's rows: vectors in metres. Planes are the one
// special case: a normal and an offset.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/render/stage.hpp"
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
        origin,  // of a generator that is a grid or a box
        plane    // normal and offset of the object
    };
    Kind kind = Kind::place;
    std::string pointer;  // of the value; of the object for planes
    std::string key;      // "target"
    render::Vec3 centre{};
    bool turns = false;  // rotation changes something
};

// For "/objective/0" and so on. `element` chooses one vector of a list; -1: all of them.
std::vector<Handle> handles_of(const document::Document& scene, const Registry& registry,
                               const std::string& object, std::int64_t element, int dimension);

// The values after the change `by` (translation and rotation in the world), each with its pointer.
struct Change {
    std::string pointer;
    document::Node value;
};
std::vector<Change> moved(const document::Document& scene, const Handle& handle, const Matrix& by,
                          int dimension);

}  // namespace hindcast::gui
