// Checks of indices for a launch with an untested kernel, such as one of Python.
#pragma once

#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

// From now on an index out of range is an error of the launch, in every direction and on every
// device: found before a run where it can be known then, else by the kernel. Call it before the
// first replay is made. Without it, compiled code reads or writes other memory; only lengths of
// arrays are compared, when they are set.
void check_indices(const Launch& launch);

}  // namespace hindcast
