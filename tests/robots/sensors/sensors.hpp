// What sensors say, beside MuJoCo: numbers after a step from random states, and their derivatives.
#pragma once

#include <cstring>

#include "engine/robot/layout/model_layout.hpp"
#include "tests/robots/models.hpp"
#include "tests/robots/oracle.hpp"

namespace hindcast::test {

// The sensors' numbers after a step. Where the pointer lies in the release that layout_version() names.
inline std::vector<double> sensordata(const Oracle& oracle) {
    REQUIRE(robot::layout_version() == 4000001);
    const double* numbers = nullptr;
    std::memcpy(static_cast<void*>(&numbers), oracle.data() + 160816, sizeof(void*));
    return {numbers, numbers + oracle.model().size("nsensordata")};
}

// The text with names of its sensors, and the list of these.
inline std::string named(std::string text, std::string& names) {
    int number = 0;
    const std::size_t begin = text.find("<sensor>") + 8, end = text.find("</sensor>");
    std::string sensors = text.substr(begin, end - begin);
    for (std::size_t k = sensors.find('<'); k != std::string::npos; k = sensors.find('<', k + 1)) {
        const std::size_t space = sensors.find(' ', k);
        const std::string name = "s" + std::to_string(number++);
        sensors.insert(space, " name=\"" + name + "\"");
        names += (names.empty() ? "\"" : ", \"") + name + "\"";
    }
    return text.replace(begin, end - begin, sensors);
}

struct SensorStates {
    int count = 100;
    double low = 1;  // how far the first joint's height is drawn toward 0
    double tolerance = 1e-9;
    double of_directions =
        0;           // the tolerance of the sensors normal and fromto, if it is another one
    int others = 0;  // how many states may differ by more: those where a choice is free
};

// Steps from random states.
inline void check_states(std::string text, const SensorStates& states) {
    std::string names;
    text = named(text, names);
    Oracle oracle(text, "robot.xml");
    Ours ours(text, robot_step, 1, "", ", \"sensors\": [" + names + "]");
    std::mt19937_64 generator(9);
    const auto address = oracle.model().integers("sensor_adr");
    const auto types = oracle.model().integers("sensor_type");
    const auto sizes = oracle.model().integers("sensor_dim");
    std::vector<double> tolerance;
    for (std::size_t s = 0; s < types.size(); ++s) {
        const auto type = static_cast<robot::SensorType>(types[s]);
        const bool direction =
            type == robot::SensorType::geomnormal || type == robot::SensorType::geomfromto;
        tolerance.insert(
            tolerance.end(), static_cast<std::size_t>(sizes[s]),
            direction && states.of_directions > 0 ? states.of_directions : states.tolerance);
    }
    int others = 0;
    for (int k = 0; k < states.count; ++k) {
        CAPTURE(k);
        RobotState state = oracle.random_state(generator);
        if (states.low < 1) state.qpos[2] = states.low * std::fabs(state.qpos[2]);
        Oracle fresh(text, "robot.xml");
        fresh.set(state), fresh.step();
        ours.set(state), ours.run();
        const std::vector<double> found = ours.array("sensordata"), expected = sensordata(fresh);
        REQUIRE(found.size() == expected.size());
        double size = 0;
        for (const double v : expected) size = std::max(size, std::fabs(v));
        const auto is_same = [&](std::size_t i) {
            return std::fabs(found[i] - expected[i]) < tolerance[i] * (1 + size);
        };
        bool all_are = true;
        for (std::size_t i = 0; i < found.size(); ++i) all_are = all_are && is_same(i);
        if (!all_are && ++others <= states.others) continue;
        for (std::size_t s = 0, i = 0; i < found.size(); ++i) {
            if (s + 1 < address.size() && static_cast<int>(i) >= address[s + 1]) ++s;
            CAPTURE(s);
            CAPTURE(found[i]);
            CAPTURE(expected[i]);
            CAPTURE((found[i] - expected[i]) / (1 + size));
            CHECK(is_same(i));
        }
    }
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
}

// Derivatives of all that sensors say, by these numbers of the body, against central differences; of one
// state second ones, too.
// `kinks`: how many states may lie so near to another choice that the differences disagree with each other.
inline void check_sensor_derivatives(std::string text, const std::vector<std::string>& numbers,
                                     int states, int kinks, double low = 1) {
    std::string names, parameters;
    text = named(text, names);
    for (const std::string& key : numbers)
        parameters += (parameters.empty() ? "" : ", ") + (R"({"path": "robot.)" + key + "\"}");
    Oracle oracle(text, "robot.xml");
    Ours ours(
        text, robot_step, 1,
        R"(, "objective": [{"type": "array_target", "array": "robot.sensordata", "target": 0.37}],
                 "parameters": [)" +
            parameters + "]",
        ", \"sensors\": [" + names + "]");
    std::mt19937_64 generator(17);
    int checked = 0;
    for (int k = 0; k < states; ++k) {
        CAPTURE(k);
        RobotState state = oracle.random_state(generator);
        if (low < 1) state.qpos[2] = low * std::fabs(state.qpos[2]);
        ours.set(state);
        ours.simulation().run(true);
        const std::vector<double> gradient = ours.simulation().gradient();
        double scale = 1, worst = 0, spread = 0;
        for (const double g : gradient) scale = std::max(scale, std::fabs(g));
        std::size_t place = 0;
        for (const std::string& key : numbers) {
            model::Quantity* const quantity =
                ours.simulation().model().find_quantity("robot." + key);
            REQUIRE(quantity != nullptr);
            const std::vector<double> start = quantity->values;
            for (std::size_t n = 0; n < start.size(); ++n, ++place) {
                const auto loss = [&](double by) {
                    quantity->values[n] = start[n] + by;
                    quantity->upload();
                    return ours.simulation().run();
                };
                const auto slope = [&](double step) {
                    return (loss(step) - loss(-step)) / (2 * step);
                };
                const double coarse = slope(4e-6), fine = slope(2e-6);
                worst = std::max(worst, std::fabs(fine + (fine - coarse) / 3 - gradient[place]));
                spread = std::max(spread, std::fabs(fine - coarse));
                quantity->values = start;
                quantity->upload();
            }
        }
        REQUIRE(place == gradient.size());
        if (spread > 1e-5 * scale && --kinks >= 0) continue;
        CHECK(worst < 1e-6 * scale);
        if (checked++ == 0) check_derivatives(ours.simulation());
    }
}

}  // namespace hindcast::test
