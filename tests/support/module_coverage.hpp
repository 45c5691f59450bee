// The coverage scenes that stand beside the physics modules: kernels/NAME/coverage*.json.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/sim/scene/scene.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/paths.hpp"

namespace hindcast::test {

inline std::vector<Scene> coverage_of(const std::string& module) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(source_dir) /
                                                                 "kernels" / module))
        if (entry.path().extension() == ".json" &&
            entry.path().filename().string().starts_with("coverage"))
            files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<Scene> scenes;
    for (const std::filesystem::path& file : files) scenes.push_back(Scene::load(file));
    return scenes;
}

inline std::vector<std::string> parameter_paths(const Scene& scene) {
    std::vector<std::string> paths;
    const document::Node& list = *scene.document().root().find("parameters");
    for (std::size_t k = 0; k < list.size(); ++k)
        paths.push_back(list.item(k).find("path")->string());
    return paths;
}

// Whether this machine can build the scene: one with a robot needs MuJoCo.
inline bool can_build(const Scene& scene) {
    return why_no_mujoco().empty() ||
           std::ranges::none_of(scene.objects(), [](const Scene::Object& object) {
               return object.type == "articulated";
           });
}

// The same scene with one of its parameters only.
inline Scene with_parameter(const Scene& scene, const std::string& path) {
    document::Document document = scene.document();
    document.set("/parameters", document::Node::array({document::Node::object({{"path", path}})}));
    return Scene::of(std::move(document), scene.file());
}

}  // namespace hindcast::test
