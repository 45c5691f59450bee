// The parameters and quantities of a scene, with their values and gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hindcast::model {
class ElementNames;  // engine/model/element_names.hpp
struct Slider;       // engine/model/handles/sliders.hpp
}  // namespace hindcast::model

namespace hindcast::session {

// A parameter of the scene, as the inspector shows it.
struct ParameterInfo {
    std::string path;  // of the scene's parameter, "cage.rest_length"
    std::string unit;
    std::string group;
    double low = 0, high = 0;  // bounds; -inf, inf: none
    bool log_scale = false;
    std::vector<std::string> names;    // per entry
    std::size_t first = 0, count = 0;  // its range in the flat vector
};

// A quantity of the scene: a number, vector or list with a path.
struct QuantityInfo {
    std::string path, unit, scene_pointer;
    std::int64_t count = 0;  // elements that it applies to
    std::int64_t rows = 0;   // of its values: one if all elements share them, else `count`
    int components = 1;
    bool shared = false;  // one row for all elements, written without a list around it
    bool may_optimize = false, optimized = false;
    double low = 0, high = 0;
    std::vector<double> values;    // rows x components; the first 4096 of them
    std::vector<double> gradient;  // of the loss at those values; empty before it is known
    double least = 0, most = 0;    // minimum and maximum of all values
    double gradient_norm = 0;      // Euclidean norm of the whole gradient
    // Null: its elements have no names, none of its numbers is offered as a slider.
    std::shared_ptr<const model::ElementNames> names;
    std::shared_ptr<const std::vector<model::Slider>> sliders;
};

// The parameters and quantities of a scene, which the window edits.
struct EditableQuantities {
    std::vector<ParameterInfo> parameters;
    std::vector<QuantityInfo> quantities;
};

struct ValuesSnapshot {
    // ---- of the trajectory shown ----
    std::vector<ParameterInfo> parameters;
    std::shared_ptr<const std::vector<double>> flat, gradient;  // the parameters' flat vectors
    std::vector<QuantityInfo> quantities;

    // The scene as it is now, if the scene shown is another build; else null. Edits refer to these.
    std::shared_ptr<const EditableQuantities> present;
    const std::vector<ParameterInfo>& present_parameters() const {
        return present ? present->parameters : parameters;
    }
    const std::vector<QuantityInfo>& present_quantities() const {
        return present ? present->quantities : quantities;
    }
};

}  // namespace hindcast::session
