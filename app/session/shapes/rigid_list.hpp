// Bodies that are written as rigid shapes in the scene.
#pragma once

#include "engine/document/node.hpp"

namespace hindcast::session {

// The list of shapes of a body whose model is written as such; null: it is not.
inline const document::Node* rigid_shapes_of(const document::Node& body) {
    const document::Node* const model = body.is_object() ? body.find("model") : nullptr;
    const document::Node* const shapes =
        model != nullptr && model->is_object() ? model->find("shapes") : nullptr;
    return shapes != nullptr && shapes->is_array() ? shapes : nullptr;
}

}  // namespace hindcast::session
