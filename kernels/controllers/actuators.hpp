// Actuators: the robot and the actuators that a controller acts on, and the time at which it does.
#pragma once

#include <string>
#include <vector>

#include "engine/lang/kernel.hpp"
#include "engine/model/model.hpp"
#include "kernels/articulated/robots.hpp"

namespace hindcast::controllers {

struct Actuators {
    articulated::Robot* robot = nullptr;
    std::vector<int> numbers;  // of the model's actuators

    std::int64_t count() const { return static_cast<std::int64_t>(numbers.size()); }
};

// Reads "of" and "actuators". Throws Error at the field for an unknown robot or actuator, or one
// named twice.
Actuators actuators_of(const model::Settings& settings, model::Model& model);
// The field rows that it reads.
model::Field of_field();
model::Field actuators_field();

// Adds to the phase of controllers one item of a kernel with the parameter "control", and with "step",
// the number of the substep, if it asks for the time.
void add(model::Model& model, const model::Settings& settings, const Actuators& actuators,
         const lang::KernelDef& kernel, std::vector<NamedArgument> arguments,
         const std::string& what);

// The quantity NAME.key with so many numbers of each actuator, in the actuators' order, which paths may
// call by the actuators' names.
Argument numbers_of_each(model::Model& model, const model::Settings& settings,
                         const std::string& key, const Actuators& actuators, std::int64_t each = 1);

}  // namespace hindcast::controllers
