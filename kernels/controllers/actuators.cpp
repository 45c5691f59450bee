#include "kernels/controllers/actuators.hpp"

#include <algorithm>
#include <stdexcept>

#include "engine/document/read.hpp"
#include "engine/model/element_names.hpp"

namespace hindcast::controllers {

using articulated::Robot;
using model::Model;
using model::Settings;

Actuators actuators_of(const Settings& settings, Model& model) {
    Actuators actuators;
    Robot& robot = articulated::robot_of(settings, model, "of");
    actuators.robot = &robot;
    actuators.numbers = articulated::things_of(settings.find("actuators"), robot,
                                               robot::ObjectKind::actuator, robot.tree->nu);
    try {
        articulated::control(model, robot);
    } catch (Error& error) {
        error.at_pointer(settings.find("of")->pointer());
        throw;
    }
    return actuators;
}

model::Field of_field() { return model::body("of").doc("the name of the robot"); }

model::Field actuators_field() {
    return model::list("actuators")
        .optional()
        .schema(R"({"type":["string","integer"],"means":"element","of":"ctrl"})")
        .doc("names or numbers of actuators; without it all, in the model's order");
}

void add(Model& model, const Settings& settings, const Actuators& actuators,
         const lang::KernelDef& kernel, std::vector<NamedArgument> arguments,
         const std::string& what) {
    const auto& control = actuators.robot->control;
    if (!control) throw std::logic_error("actuators of a robot without controls");
    arguments.emplace_back("control", *control);
    arguments.emplace_back("step", model.step_counter());
    std::erase_if(arguments, [&](const NamedArgument& argument) {
        return std::ranges::none_of(kernel.parameters(), [&](const ir::Parameter& parameter) {
            return parameter.name == argument.parameter;
        });
    });
    model.add(model::Phase::controllers,
              model.launch(kernel, 1, arguments, settings.name() + ": " + what));
}

Argument numbers_of_each(Model& model, const Settings& settings, const std::string& key,
                         const Actuators& actuators, std::int64_t each) {
    const std::int64_t count = actuators.count(), grid[] = {count, each};
    model::ElementNames names(count * each);
    for (const int u : actuators.numbers)
        names.add(
            actuators.robot->model->names(robot::ObjectKind::actuator)[static_cast<std::size_t>(u)],
            each);
    model::name_elements(model, settings.name() + "." + key, std::move(names));
    return settings.quantity(model, key, count * each, {}, grid).argument();
}

}  // namespace hindcast::controllers
