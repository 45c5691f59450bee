// Steps of ours and of MuJoCo from the same random states.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/robots/models.hpp"
#include "tests/robots/oracle.hpp"

namespace hindcast::test {

// The largest differences, as distance() has them.
struct StepErrors {
    double acceleration = 0, position = 0, velocity = 0, activation = 0;
};

// `text_of(integrator)`: the model; `time`: more of the scene's "time". Accelerations are those of the states, without what the integrator
// takes implicitly: MuJoCo has them in a step of Euler's method, ours in the first stage of RK4.
template <class Text>
StepErrors compare_steps(const Text& text_of, const std::string& integrator, int states,
                         const std::string& time = "") {
    const std::string text = text_of(integrator);
    Oracle oracle(text, "robot.xml"), euler(text_of("Euler"), "robot.xml");
    Ours ours(text, robot_step, 1, "", "", time);
    std::mt19937_64 generator(7);
    StepErrors e;
    for (int k = 0; k < states; ++k) {
        const RobotState state = oracle.random_state(generator);
        ours.set(state);
        ours.run();
        oracle.set(state);
        oracle.step();
        euler.set(state);
        euler.step();
        if (integrator == "RK4")
            e.acceleration =
                std::max(e.acceleration, distance(ours.array("qacc"), euler.acceleration()));
        const RobotState after = oracle.state();
        e.position = std::max(e.position, distance(ours.array("qpos"), after.qpos));
        e.velocity = std::max(e.velocity, distance(ours.array("qvel"), after.qvel));
        e.activation = std::max(e.activation, distance(ours.array("act"), after.act));
    }
    return e;
}

}  // namespace hindcast::test
