// hindcast import ROBOT: a scene of a robot's model.
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>

#include "app/cli/command.hpp"
#include "app/cli/info/info_robot.hpp"
#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "engine/document/text.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::cli {

namespace {

using document::Node;
using robot::ObjectKind;
using robot::RobotModel;

constexpr double shown_seconds = 5;

struct Options {
    std::string robot, output;
    bool force = false;
};

// The file's name as that of an object of a scene: letters, digits and underscores.
std::string object_name(const std::filesystem::path& file) {
    std::string name = file.stem().string();
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    const bool letter = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
    return letter ? name : "robot_" + name;
}

// "1/500" where it is one over a whole number.
Node step_node(double seconds) {
    const double steps = std::round(1 / seconds);
    if (1 / steps == seconds) return Node(fmt::format("1/{:.0f}", steps));
    return Node(seconds);
}

Node scene_of(const RobotModel& model, const std::filesystem::path& file,
              const std::filesystem::path& folder) {
    const double step = model.options().timestep;
    Node body = Node::object({{"type", "articulated"}, {"name", object_name(file)}});
    const std::filesystem::path below = std::filesystem::proximate(file, folder);
    if (below.is_absolute() || below.begin()->string() == "..")
        throw Error("a scene in " + document::shown(folder.string(), 200) +
                    " may not read the model, which is not in that folder")
            .remedy("let the scene stand in the model's folder, or in one above it");
    body.set("model", Node(below.generic_string()));
    const std::vector<std::string>& keyframes = model.names(ObjectKind::keyframe);
    if (!keyframes.empty() && !keyframes.front().empty())
        body.set("keyframe", Node(keyframes.front()));
    return Node::object(
        {{"format", 1},
         {"name", Node(file.stem().string())},
         {"time",
          Node::object({{"step", step_node(step)},
                        {"steps", static_cast<std::int64_t>(std::ceil(shown_seconds / step))}})},
         {"bodies", Node::array({std::move(body)})}});
}

int run(const Options& options) {
    if (!is_robot_file(options.robot))
        throw Error(document::shown(options.robot, 200) + " is not a model of a robot")
            .remedy("give a file in MJCF (.xml, .mjcf) or URDF (.urdf)");
    const std::filesystem::path file = options.robot;
    std::filesystem::path output = options.output;
    if (output.empty()) output = std::filesystem::path(file).replace_extension(".json");
    if (std::filesystem::exists(output) && !options.force)
        throw Error(document::shown(output.string(), 200) + " is there already")
            .remedy("write --force to replace it, or name another file with --output");
    const RobotModel model = RobotModel::load(file);
    const Node scene = scene_of(model, file, std::filesystem::absolute(output).parent_path());
    write_file_atomically(output, document::to_text(scene) + "\n");
    fmt::print("{}\n  hindcast view {}\n  hindcast info {}\n", output.string(), output.string(),
               file.string());
    return 0;
}

}  // namespace

Command add_import(CLI::App& app) {
    CLI::App* command = app.add_subcommand("import", "Make a scene of a robot's model");
    auto options = std::make_shared<Options>();
    command->add_option("robot", options->robot, "MJCF (.xml, .mjcf) or URDF (.urdf)")
        ->required()
        ->type_name("ROBOT");
    command
        ->add_option("-o,--output", options->output,
                     "The scene (default: beside the model, with its name and .json)")
        ->type_name("FILE");
    command->add_flag("--force", options->force, "Replace a file that is there");
    command->footer(
        "The scene has the model as an articulated body, with the model's step of time for 5 s, "
        "from "
        "its first keyframe if that has a name.");
    return {command, about_scene(options->robot, [options] { return run(*options); })};
}

}  // namespace hindcast::cli
