// The motion that a measured objective's samples tell of a robot, for drawing
// (engine/model/measured_motion.hpp): positions of joints at the time t are
//
//     scale m(t + delay) + offset,
//
// with m along the line between samples; joints without a channel are as simulated.
#pragma once

#include <string>

#include "kernels/articulated/robots.hpp"
#include "kernels/measured/channels.hpp"

namespace hindcast::measured {

// The samples on the device.
struct SampleArrays {
    Array step, part, value;        // {samples}: as in Samples
    Argument delay, scale, offset;  // {1}, {channels}, {channels}

    // As kernels call them, with these others.
    std::vector<NamedArgument> with(std::vector<NamedArgument> others) const;
};

// Nothing where no channel compares positions of joints. There is nothing to draw before the first sample
// of such a channel or after its last one.
void show_motion(model::Model& model, const std::string& owner, const articulated::Robot& robot,
                 const std::vector<Channel>& channels, const Samples& samples,
                 const SampleArrays& arrays);

}  // namespace hindcast::measured
