#include "kernels/controllers/actuators.hpp"

#include <algorithm>

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
    const document::Node* const written = settings.find("actuators");
    if (written == nullptr) {
        for (int u = 0; u < robot.tree->nu; ++u) actuators.numbers.push_back(u);
    } else {
        for (std::size_t i = 0; i < document::array_of(*written, 1).size(); ++i) {
            const document::Node& item = written->item(i);
            int number = 0;
            if (item.is_string()) {
                try {
                    number = robot.model->find(robot::ObjectKind::actuator, item.string());
                } catch (Error& error) {
                    error.at_pointer(item.pointer());
                    throw;
                }
            } else {
                const std::int64_t written_number = document::integer_of(item);
                if (written_number < 0 || written_number >= robot.tree->nu)
                    throw document::fault(item, "the robot '" + robot.name + "' has no actuator " +
                                                    std::to_string(written_number))
                        .remedy("its actuators are numbered from 0 to " +
                                std::to_string(robot.tree->nu - 1));
                number = static_cast<int>(written_number);
            }
            if (std::ranges::find(actuators.numbers, number) != actuators.numbers.end())
                throw document::fault(item, "this actuator is listed twice").remedy("list it once");
            actuators.numbers.push_back(number);
        }
    }
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
        .schema(R"({"type":["string","integer"]})")
        .doc("names or numbers of actuators; without it all, in the model's order");
}

void add(Model& model, const Settings& settings, const Actuators& actuators,
         const lang::KernelDef& kernel, std::vector<NamedArgument> arguments,
         const std::string& what) {
    arguments.emplace_back("control", *actuators.robot->control);
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

double duration(const Model& model) {
    return static_cast<double>(model.options().scene_steps * model.options().substeps) *
           model.step();
}

}  // namespace hindcast::controllers
