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
// Kernels and launches: lang/kernel.hpp, runtime/launch.hpp; several in a row: runtime/tape.hpp, over
// time: runtime/rollout.hpp. Memory of other libraries, of the host or of a CUDA device: Array::over
// and its like, interop/strided.hpp, interop/dlpack.hpp, runtime/stream.hpp. Scenes:
// sim/simulation.hpp, sim/scene_function.hpp, sim/optimization.hpp; a physics module of one's own:
// model/registry.hpp.
//
// This header and what it includes is all that is installed.
#pragma once

#include "engine/base/error.hpp"
#include "engine/base/version.hpp"
#include "engine/interop/dlpack.hpp"
#include "engine/interop/strided.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/quaternion.hpp"
#include "engine/model/registry.hpp"
#include "engine/runtime/array.hpp"
#include "engine/runtime/device.hpp"
#include "engine/runtime/launch.hpp"
#include "engine/runtime/rollout.hpp"
#include "engine/runtime/stream.hpp"
#include "engine/runtime/tape.hpp"
#include "engine/sim/optimization.hpp"
#include "engine/sim/scene.hpp"
#include "engine/sim/scene_function.hpp"
#include "engine/sim/simulation.hpp"
