// MeasuredMotion: the measured places of a body, drawn pale beside the simulated ones. It is
// computed only for frames that are shown, so it costs a run nothing, and has no gradient.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/runtime/array/array.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast::model {

struct MeasuredMotion {
    std::string owner;  // the objective that compares it
    std::string body;   // the object of its drawings (DrawnBody)
    // Joints that are not measured are as in the simulation.
    bool is_partial = false;
    // Rows as in the arrays of those drawings; {rows, 3}: m; {rows, 4}: quaternions.
    Array places, orientations;
    Array known;  // {1}: 1 at times of the record, else 0 and there is nothing to draw
    // Launches that compute these arrays of the state as it is then, with the number of steps done in
    // Model::step_counter(). Called once the model is built.
    std::function<std::vector<Launch>()> launches = {};

    // Names of the arrays in frames.
    std::string name_of_places() const { return owner + ": measured places"; }
    std::string name_of_orientations() const { return owner + ": measured orientations"; }
    std::string name_of_known() const { return owner + ": is measured"; }
};

// In Model::shared().
struct MeasuredMotions {
    std::vector<MeasuredMotion> list;
};

}  // namespace hindcast::model
