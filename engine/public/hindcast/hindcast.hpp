// Hindcast for C++: what a program includes that uses the library.
//
//     #include <hindcast/hindcast.hpp>
//     using namespace hindcast;
//     using namespace hindcast::lang;                        // what kernels are written in
//
//     const KernelDef scale = kernel("scale", {"x", "k", "y"},
//         [](Int i, Read<Float> x, Param<Float> k, Write<Float> y) { y[i] = k * x[i]; });
//     const auto device = std::make_shared<Device>();
//     const Array x = Array::from(values, ir::Type::f32, {n}), y(ir::Type::f32, {n});
//     Launch launch(device, scale, ir::Precision::f32, n, {x, 2.0, y});
//     launch.forward().run();
//     y.gradient().fill(1);
//     launch.adjoint().run();                                // x.gradient() has been added to
//
// Kernels and launches: lang/kernel.hpp, runtime/launch/launch.hpp; several in a row:
// runtime/program/tape.hpp, over time: runtime/rollout/rollout.hpp; to the minimum of energies:
// runtime/minimization/minimization.hpp. Memory of other libraries, of
// the host or of a CUDA device: Array::over and its like, interop/strided.hpp, interop/dlpack.hpp,
// runtime/device/stream.hpp. Scenes: sim/simulation.hpp, sim/functions/scene_function.hpp,
// sim/optimization/optimization.hpp; by path and in batches of members that go their own ways:
// sim/runs/scene_runs.hpp, sim/runs/scene_batch.hpp; a physics module of one's own: model/registry.hpp.
//
// This header and what it includes is all that is installed.
#pragma once

#include "engine/backend/optional_passes.hpp"
#include "engine/base/error.hpp"
#include "engine/base/version.hpp"
#include "engine/interop/dlpack.hpp"
#include "engine/interop/strided.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/quaternion.hpp"
#include "engine/model/registry.hpp"
#include "engine/runtime/array/array.hpp"
#include "engine/runtime/device/device.hpp"
#include "engine/runtime/device/stream.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/minimization/minimization.hpp"
#include "engine/runtime/program/tape.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "engine/sim/functions/scene_function.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "engine/sim/runs/scene_batch.hpp"
#include "engine/sim/runs/scene_runs.hpp"
#include "engine/sim/scene/scene.hpp"
#include "engine/sim/simulation.hpp"
