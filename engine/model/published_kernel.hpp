// Kernels of modules that stand alone: anyone may launch them on arrays of their own, from Python by
// their names.
//
//     registry.publish(
//         {"velocity_decay", "One item per point: v <- exp(-rate h) v.",
//          {dimension_option()},
//          {{"rate", "1/s"}, {"h", "the step, s"}, {"v", "velocities, m/s"}},
//          [](const Settings& options) { return decay(options.integer("dimension")); }});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/document/node.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/model/field.hpp"

namespace hindcast::model {

class Settings;

struct PublishedKernel {
    struct Parameter {
        std::string name, documentation;  // with the unit, and the shape where it is not plain
    };

    std::string name;
    std::string documentation;          // meaning of an item, formula
    std::vector<Field> options;         // options that specialize the kernel
    std::vector<Parameter> parameters;  // of all its forms
    std::function<lang::KernelDef(const Settings& options)> make;
};

// The kernel with these options (an object), without the parameters that it then does not use.
// Throws Error at the option for unknown names, missing ones and values out of range.
lang::KernelDef make_kernel(const PublishedKernel& kernel, const document::Node& options);

// Options that many kernels have.
Field dimension_option();  // "dimension": 2 or 3
// "adds": "to_what_is_there" or "to_zero", what each Accumulate of the kernel is made a Sum for.
Field adds_option();

}  // namespace hindcast::model
