#include "kernels/articulated/robots.hpp"

#include "engine/document/read.hpp"

namespace hindcast::articulated {

using namespace lang;

namespace {

KernelDef constant_control() {
    return kernel("articulated_constant_control", {"ctrl", "control"},
                  [](Int i, Property<Float> ctrl, Accumulate<Float> control) {
                      control[injective(i)] += ctrl[i];
                  });
}

}  // namespace

Robot& robot_of(const model::Settings& settings, model::Model& model, const std::string& key) {
    auto& robots = model.shared<Robots>().by_name;
    const document::Node& node = *settings.find(key);
    if (const auto found = robots.find(document::string_of(node)); found != robots.end())
        return found->second;
    if (robots.empty())
        throw document::fault(node, "there is no robot '" + document::string_of(node) +
                                        "': the scene has no body of type \"articulated\"")
            .remedy("add one to \"bodies\"");
    std::vector<std::string_view> names;
    for (const auto& [name, robot] : robots) names.push_back(name);
    document::choice_of(node, names, "robot");  // throws, with "did you mean"
    throw document::fault(node, "there is no robot '" + document::string_of(node) + "'");
}

Array control(model::Model& model, Robot& robot) {
    if (robot.control) return *robot.control;
    if (!robot.ctrl)
        throw Error("the robot '" + robot.name + "' has no actuators, so nothing to control")
            .remedy("add actuators to its model, or remove the controller");
    const std::int64_t count = robot.tree->nu;
    robot.control =
        model.add_array(robot.name + ".control", count, 1,
                        {.meaning = "control of each actuator in the last step, before its limits",
                         .defined_anew = true});
    model.add(model::Phase::controllers,
              model.launch(constant_control(), count,
                           {{"ctrl", *robot.ctrl}, {"control", *robot.control}},
                           robot.name + ": constant control"));
    return *robot.control;
}

}  // namespace hindcast::articulated
