// hindcast import ROBOT: a scene of a robot's model.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "app/cli/command.hpp"
#include "engine/base/error.hpp"
#include "engine/document/text.hpp"
#include "engine/robot/robot_scene.hpp"

namespace hindcast::cli {

namespace {

struct ImportOptions {
    std::string robot, output;
    std::vector<std::string> allow_path;
    bool force = false;
};

int run(const ImportOptions& options) {
    if (!robot::is_robot_file(options.robot))
        throw Error(document::shown(options.robot, 200) + " is not a model of a robot")
            .remedy("give a file in MJCF (.xml, .mjcf) or URDF (.urdf)");
    const std::filesystem::path file = options.robot;
    std::filesystem::path output = options.output;
    if (output.empty()) output = std::filesystem::path(file).replace_extension(".json");
    if (std::filesystem::exists(output) && !options.force)
        throw Error(document::shown(output.string(), 200) + " is there already")
            .remedy("write --force to replace it, or name another file with --output");
    robot::scene_of_model(file, std::filesystem::absolute(output).parent_path(),
                          {options.allow_path.begin(), options.allow_path.end()})
        .save(output);
    // The window has no --allow-path.
    std::string shown = (options.allow_path.empty() ? "view " : "run ") + output.string();
    for (const std::string& folder : options.allow_path) shown += " --allow-path " + folder;
    fmt::print("{}\n  hindcast {}\n  hindcast info {}\n", output.string(), shown, file.string());
    return 0;
}

}  // namespace

Command add_import(CLI::App& app) {
    CLI::App* command = app.add_subcommand("import", "Make a scene of a robot's model");
    auto options = std::make_shared<ImportOptions>();
    command->add_option("robot", options->robot, "MJCF (.xml, .mjcf) or URDF (.urdf)")
        ->required()
        ->type_name("ROBOT");
    command
        ->add_option("-o,--output", options->output,
                     "The scene (default: beside the model, with its name and .json)")
        ->type_name("FILE");
    add_allow_path(*command, options->allow_path);
    command->add_flag("--force", options->force, "Replace a file that is there");
    command->footer(
        "The scene has the model as an articulated body, with the model's step of time for 5 s, "
        "from "
        "its first keyframe if that has a name.");
    return {command, about_scene(options->robot, [options] { return run(*options); })};
}

}  // namespace hindcast::cli
