// Kernels on a CUDA device: the functions of emit.hpp and the phases of phases.hpp, put
// on a stream.
//
// run() returns when the work is on the stream. Bindings point into the memory of the device, and
// RunOptions says where the host has the integers that gathers depend on. Nothing is allocated,
// made or uploaded by a run() whose like has been there before: it can be captured into a graph.
#pragma once

#include <memory>
#include <string>

#include "engine/backend/cuda/context.hpp"
#include "engine/backend/executable.hpp"

namespace hindcast::backend {

// `launch` names it in errors. `any_order`: sums at dynamic indices are not made in fixed point but
// by atomic additions of floating-point numbers, in the order in which they come. `indices`: one
// out of range is an error.
std::shared_ptr<Executable> compile_cuda(const ir::Kernel& kernel, const LaunchWords& launch,
                                         std::shared_ptr<cuda::Context> context,
                                         bool any_order = false, bool indices = false);

}  // namespace hindcast::backend
