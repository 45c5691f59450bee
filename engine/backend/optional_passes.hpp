// Optional passes: rewrites of kernels and roll-outs, and ways to run them, that only make them
// faster.
//
// None changes a bit of any result. Each can be left out, so that a slow run, or a bit that is
// wrong, can be traced to one of them, and so that its worth can be measured:
//
//     hindcast run SCENE --without symmetry,fusion
//     hindcast bench --each-pass
//     device_options.passes = PassSet::without("symmetry,fusion");
#pragma once

#include <span>

#include "engine/backend/pass_set.hpp"

namespace hindcast {

enum class Pass : std::uint8_t {
    // Passes on a kernel's code for the CPU, in the order in which they are applied (pipeline.hpp).
    per_target,
    shifts,
    symmetry,
    neighbor_runs,
    stencil_blocks,
    prefetch,
    quick_code,
    // Passes on its launches on the CPU.
    unchanged_items,
    // Passes on roll-outs.
    fusion,
    rotation,
    rematerialization,
    sparse_history,
    deferral,
    functions
};

struct PassInfo {
    Pass which;
    const char* name;     // on the command line
    const char* meaning;  // one line
    bool on_cpu, on_cuda;
};
// All, in the order of the enumeration.
std::span<const PassInfo> all_passes();
const PassInfo& info(Pass which);

}  // namespace hindcast
