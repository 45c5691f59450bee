// Kernels on the tests' CUDA device (the driver in software unless the environment names another,
// see main.cpp), for bindings into memory of the host: it is copied there and back.
//
//     const auto executable = test::cuda_kernel(kernel);
//     executable->prepare(bindings, items);   // all that are prepared are compiled together
//     executable->run(bindings, items, {});
#pragma once

#include <memory>

#include "engine/backend/cuda/context.hpp"
#include "engine/backend/executable.hpp"

namespace hindcast::test {

// Only if has_cuda_device() (devices.hpp).
const std::shared_ptr<backend::cuda::Context>& cuda_context();
std::shared_ptr<backend::Executable> cuda_kernel(const ir::Kernel& kernel);

}  // namespace hindcast::test
