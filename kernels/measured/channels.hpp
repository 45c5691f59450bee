// Channels of a measured objective: it compares columns of a file with numbers of arrays, at times
// between steps.
#pragma once

#include <string>
#include <vector>

#include "engine/document/csv.hpp"
#include "engine/model/model.hpp"
#include "kernels/measured/recording.hpp"

namespace hindcast::measured {

// The interpolation of a number between the start and the end of the step that a time lies in.
enum class Between {
    hold,    // as at the start of the step
    linear,  // along the line
    cubic    // the cubic Hermite polynomial: positions, whose velocities are its slopes
};

struct Channel {
    std::string column;  // of the file
    Between between = Between::linear;
    // True if the array has states. Other arrays, such as forces, accelerations and sensors, have
    // at the end of a step the values of the state at its start.
    bool is_state = true;
    int value = 0, slope = -1;  // columns of the recording; the latter for cubic
    int qpos = -1;              // its number in the robot's "qpos"; -1: none
};

// The channels that "channels" lists for the body that "of" names. Throws Error at the item.
std::vector<Channel> read_channels(const model::Settings& settings, model::Model& model,
                                   Recording& recording);

// The samples of all channels, channel by channel, each in order of time.
struct Samples {
    std::vector<std::int64_t> first;  // of each channel, and behind the last one
    std::vector<double> times;        // s, of the scene
    std::vector<double> values;       // as the file has them
    std::vector<std::int64_t> steps;  // the step that the time lies in
    std::vector<double> parts;        // of that step that has passed, in steps: from 0 to 1
    double earliest = 0, latest = 0;  // of all times

    std::int64_t count() const { return static_cast<std::int64_t>(times.size()); }
};

// Those between `from` and `until`, seconds of the scene's time, which is 0 at `start` of the file.
// An empty cell gives no sample. Throws Error with the place in the file for a missing column, a
// cell that is not a number, time that does not increase, or a channel without a sample.
Samples read_samples(const document::CsvTable& table, const std::string& time,
                     const std::vector<Channel>& channels, double start, double from, double until,
                     double step, std::int64_t steps);

}  // namespace hindcast::measured
