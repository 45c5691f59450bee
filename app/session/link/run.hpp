// The run that is shown: its time and its results.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hindcast::session {

struct TermInfo {
    std::string name;
    double weight = 1, value = 0;  // value is NaN until the run is complete
};

struct RunSnapshot {
    double step_seconds = 0;
    std::int64_t steps = 0;           // whole steps of a run
    std::int64_t steps_computed = 0;  // of the trajectory shown
    std::int64_t frame_every = 1;     // steps between kept frames

    // ---- time ----
    bool playing = false;
    std::int64_t step = 0;  // shown
    // The step sought while time stands still. Until it is computed, the kept frame before it is
    // shown.
    std::int64_t step_asked = 0;
    double speed_asked = 1;  // simulated seconds per second; 0: as fast as possible
    double speed_measured = 0;

    // ---- results of the trajectory shown ----
    double loss = 0;  // NaN until it is complete
    std::vector<TermInfo> terms;
    std::map<std::string, std::vector<double>> series;  // per kept frame: "kinetic energy", ...
};

}  // namespace hindcast::session
