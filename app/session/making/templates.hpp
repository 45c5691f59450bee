// Whole scenes to begin with: something that falls, hangs or is thrown, what is wanted of it, and
// the parameter that is to bring it about.
#pragma once

#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

struct SceneTemplate {
    std::string id;           // "hang"
    std::string label, help;  // "Hang this"
};

// Those whose modules the registry has.
std::vector<SceneTemplate> scene_templates(const Registry& registry);

// The scene, which runs. Throws Error if there is no template of this id.
document::Document scene_of_template(const Registry& registry, const std::string& id);

}  // namespace hindcast::session
