// Scenes that warn, for tests of what becomes of a warning.
#pragma once

namespace hindcast::test {

// Two balls, 1 m apart at 1 m/s toward each other: they touch at a distance of .2 m, in step 80.
inline constexpr const char* balls = R"({"format": 1, "name": "balls",
    "time": {"step": 0.01, "steps": 100}, "gravity": [0, 0, 0],
    "bodies": [
        {"type": "particles", "name": "left", "radius": 0.1, "positions": [[0, 0, 0]]},
        {"type": "particles", "name": "right", "radius": 0.1, "positions": [[1, 0, 0]],
         "velocity": [-1, 0, 0]}]})";

// omega = sqrt(k / m) = 20/s: the limit of the step is 2 / omega = .1 s.
inline constexpr const char* oscillator = R"({"format": 1, "name": "oscillator",
    "time": {"step": 0.09, "steps": 5}, "gravity": [0, 0, 0],
    "bodies": [
        {"type": "particles", "name": "wall", "positions": [[0, 0, 0]], "fixed": true},
        {"type": "particles", "name": "mass", "positions": [[1, 0, 0]]}],
    "forces": [{"type": "springs", "name": "spring", "stiffness": 400, "rest_length": 1,
                "connect": [["wall", 0, "mass", 0]]}]})";

}  // namespace hindcast::test
