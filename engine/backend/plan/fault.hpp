// KernelFault: a failure in a launch, and the Error for it.
#pragma once

#include <cstdint>

#include "engine/ir/kernel.hpp"

namespace hindcast::backend {

struct Binding;

// Compiled code writes it: the order of its members is known there.
struct KernelFault {
    std::int64_t item = INT64_MAX;  // the lowest one; INT64_MAX: there is no fault
    std::int64_t index = 0;  // out of range, if that is the fault; of a raise: what is to blame
    std::int32_t op = -1;    // a loop over its limit, an access, or a raise

    bool is_there() const { return item != INT64_MAX; }
};
// `bindings`: of the launch.
[[noreturn]] void raise_fault(const ir::Kernel& kernel, const KernelFault& fault,
                              const Binding* bindings);

}  // namespace hindcast::backend
