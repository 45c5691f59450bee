// Numbers that one moves to try things out, such as the controls of a robot's actuators and the
// positions of its joints: what a window needs to offer them as sliders.
//
//     offer_sliders(model, "robot.ctrl", {{.element = 0, .name = "elbow", .unit = "N m", ...}});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::model {

struct Slider {
    std::int64_t element = 0;  // of the quantity, which has one component
    std::string name;          // of the thing: "left knee"
    std::string group;         // a group in the list: "Joints at the start"
    std::string meaning;       // in one line
    std::string unit;
    double low = 0, high = 0;
    bool limited = false;  // the range is the model's; else only where it is usual to look
};

// Offers sliders for the quantity with this path, in the order of the list.
void offer_sliders(Model& model, const std::string& path, std::vector<Slider> sliders);
// Empty where none are offered.
const std::vector<Slider>& sliders(Model& model, const std::string& path);

}  // namespace hindcast::model
