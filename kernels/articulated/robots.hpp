// The robots of a scene as other modules see them: their models, and the controls of their actuators.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast::articulated {

struct Robot {
    std::string name;
    std::shared_ptr<const robot::RobotModel> model;
    TreePointer tree;
    std::optional<Argument> ctrl;  // the scene's constant control; none without actuators
    std::optional<Array> control;  // of this step, once a controller has asked for it
    // Places its bodies and points as in qpos and qvel: for code that sets these at the start of a
    // step.
    std::vector<Launch> placed = {};
    // The launches that place its bodies for other positions of the joints: `xpos` and `xquat`, of
    // the sizes of the robot's own, from `qpos`. Other arrays stay as they are.
    std::function<std::vector<Launch>(const Array& qpos, const Array& xpos, const Array& xquat)>
        placed_as = {};
};

// In Model::shared().
struct Robots {
    std::map<std::string, Robot> by_name;
};

// The robot that a field names. Throws Error at the field, with "did you mean".
Robot& robot_of(const model::Settings& settings, model::Model& model, const std::string& key);

// The joints, actuators and so on that a list names, by name or number, each once; without a list (null) all
// `count` of them. Throws Error at the item.
std::vector<int> things_of(const document::Node* list, const Robot& robot, robot::ObjectKind kind,
                           int count);

// The control of each of its actuators in the step that runs, which kernels of controllers declare
// Accumulate: the sum of what the robot's "ctrl" and all controllers give. Published as NAME.control.
// Throws Error if the robot has no actuators.
Array control(model::Model& model, Robot& robot);

}  // namespace hindcast::articulated
