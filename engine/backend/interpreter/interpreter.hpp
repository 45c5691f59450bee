// The interpreter: the definition of what a kernel computes. Short, slow, one item after the other;
// every other back end is compared with it bit by bit. It always checks indices, second stores and
// loop limits.
#pragma once

#include <functional>
#include <memory>

#include "engine/backend/executable.hpp"

namespace hindcast::backend {

std::shared_ptr<Executable> interpret(const ir::Kernel& kernel, const CompileOptions& options = {});

// The value of every op of one item, after running that item alone: what the NaN finder looks
// through. `visit(value, bits)` is called each time an op has computed.
using Trace = std::function<void(ir::Value, std::uint64_t bits)>;
void trace_item(const ir::Kernel& kernel, const Binding* bindings, std::int64_t item,
                const Trace& visit);

}  // namespace hindcast::backend
