#include "kernels/articulated/robots.hpp"

#include <algorithm>

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

std::vector<int> things_of(const document::Node* list, const Robot& robot, robot::ObjectKind kind,
                           int count) {
    std::vector<int> things;
    if (list == nullptr) {
        for (int k = 0; k < count; ++k) things.push_back(k);
        return things;
    }
    const std::string what(robot::name_of(kind));
    for (std::size_t k = 0; k < document::array_of(*list, 1).size(); ++k) {
        const document::Node& item = list->item(k);
        std::int64_t number = 0;
        if (item.is_string()) {
            try {
                number = robot.model->find(kind, item.string());
            } catch (Error& error) {
                error.at_pointer(item.pointer());
                throw;
            }
        } else {
            number = document::integer_of(item);
            if (number < 0 || number >= count)
                throw document::fault(item, "the robot '" + robot.name + "' has no " + what + " " +
                                                std::to_string(number))
                    .remedy("the number of its last " + what + " is " + std::to_string(count - 1));
        }
        if (std::ranges::find(things, number) != things.end())
            throw document::fault(item, "this " + what + " is listed twice").remedy("list it once");
        things.push_back(static_cast<int>(number));
    }
    return things;
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
