// Loops of a timeline as the text of one function (backend/cpu/program/program.hpp).
#pragma once

#include <string>
#include <vector>

#include "engine/backend/cpu/program/program.hpp"
#include "engine/runtime/device/device.hpp"
#include "engine/runtime/schedule/timeline.hpp"

namespace hindcast {

// Why the launches of these loops must run one by one; "" if they need not.
std::string needs_launches(const std::vector<BlockLoop>& loops, const Schedule& schedule,
                           const DeviceOptions& device);

// Histories must be allocated. `not_finite` is set to 1 by a check that finds such a number. The
// first step of the histories' window is step 0 of the text, or lies `shift` before it
// (backend::CpuProgram::run).
backend::ProgramText program_text(const std::vector<BlockLoop>& loops, const Array& counter,
                                  std::int32_t* not_finite);

}  // namespace hindcast
