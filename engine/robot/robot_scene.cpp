#include "engine/robot/robot_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "engine/base/error.hpp"
#include "engine/document/text.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::robot {

namespace fs = std::filesystem;
using document::Node;

namespace {

constexpr double shown_seconds = 5;

// The file's name as that of an object of a scene: letters, digits and underscores.
std::string object_name(const fs::path& file) {
    std::string name = file.stem().string();
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    const bool letter = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
    return letter ? name : "robot_" + name;
}

bool lies_in(const fs::path& file, const fs::path& folder) {
    const fs::path below = fs::proximate(file, folder);
    return below.is_relative() && *below.begin() != "..";
}

// "1/500" where it is one over a whole number.
Node step_node(double seconds) {
    const double steps = std::round(1 / seconds);
    if (1 / steps == seconds) return Node(fmt::format("1/{:.0f}", steps));
    return Node(seconds);
}

}  // namespace

bool is_robot_file(const fs::path& file) {
    const std::string ending = file.extension().string();
    return ending == ".xml" || ending == ".mjcf" || ending == ".urdf";
}

document::Document scene_of_model(const fs::path& file, const fs::path& folder,
                                  const std::vector<fs::path>& allowed) {
    const fs::path below = fs::proximate(file, folder);
    if (!lies_in(file, folder) &&
        std::ranges::none_of(allowed, [&](const fs::path& other) { return lies_in(file, other); }))
        throw Error("a scene in " + document::shown(folder.string(), 200) +
                    " may not read the model, which is not in that folder")
            .remedy(
                "let the scene stand in the model's folder, or in one above it, or allow the "
                "model's folder with --allow-path");
    const RobotModel model = RobotModel::load(file);
    const double step = model.options().timestep;
    Node body = Node::object({{"type", "articulated"}, {"name", object_name(file)}});
    body.set("model", Node(below.generic_string()));
    const std::vector<std::string>& keyframes = model.names(ObjectKind::keyframe);
    if (!keyframes.empty() && !keyframes.front().empty())
        body.set("keyframe", Node(keyframes.front()));
    return document::Document(Node::object(
        {{"format", 1},
         {"name", Node(file.stem().string())},
         {"time",
          Node::object({{"step", step_node(step)},
                        {"steps", static_cast<std::int64_t>(std::ceil(shown_seconds / step))}})},
         {"bodies", Node::array({std::move(body)})}}));
}

}  // namespace hindcast::robot
