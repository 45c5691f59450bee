// ModelReader: base of classes that read a robot's arrays by name and number.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/robot/robot_model.hpp"

namespace hindcast::robot {

class ModelReader {
protected:
    explicit ModelReader(const RobotModel& model) : m_(model) {}

    int count(std::string_view size) const { return static_cast<int>(m_.size(size)); }
    int integer(std::string_view array, int i) const {
        return m_.integers(array)[static_cast<std::size_t>(i)];
    }
    double real(std::string_view array, int i) const {
        return m_.reals(array)[static_cast<std::size_t>(i)];
    }

    const RobotModel& m_;
};

}  // namespace hindcast::robot
