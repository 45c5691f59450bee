// Cards that describe scene files before one is opened, and the scenes of a folder in their order.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hindcast::gui {

struct SceneCard {
    std::string name, description, what;  // `what`: the parameters
};

// By its name: no scene test or schema.
bool is_scene(const std::filesystem::path& file);
// A file that cannot be read is described by what is wrong with it.
SceneCard read_card(const std::filesystem::path& file);

struct SceneGroup {
    std::string title;
    std::vector<std::filesystem::path> scenes;
};

// The scenes of a folder in the order of its pictures/gallery.json, which names them from the
// folder:
//
//     { "groups": [{ "title": "Cloth", "scenes": ["flag.json", "robots/humanoid.json"] }] }
//
// Those of the folder itself that no group has follow as "Other scenes"; without that file all of
// them are one group without a title, by name. Throws Error if the list is not of this form, or
// names a file that is not there or that it has already named.
std::vector<SceneGroup> scene_groups(const std::filesystem::path& folder);
// The same without its list.
std::vector<SceneGroup> ungrouped_scenes(const std::filesystem::path& folder);

}  // namespace hindcast::gui
