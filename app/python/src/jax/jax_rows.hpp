// Calls of XLA as calls of a SceneFunction: rows of numbers on the host, whatever their precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/sim/functions/scene_function.hpp"

namespace hindcast::python {

// The row of an operand that a row of the result is of: `has` says which batch axes it has.
std::size_t row_of(std::size_t row, std::span<const std::int64_t> batch,
                   std::span<const std::int64_t> has);

struct RowData {
    void* data = nullptr;  // of the host
    bool is_f64 = false;
};

// The sizes of the batch axes. A call that XLA has divided among devices is told -1: each operand has
// all axes, and its dimensions are those of the part that this device has.
std::vector<std::int64_t> batch_of(std::span<const std::int64_t> told,
                                   std::span<const std::int64_t> dimensions);

// Operands are [batch..., size], each with those batch axes that it has: `has`, one after the other.
void run_rows(SceneFunction::Kind kind, SceneFunction& function, std::span<const RowData> operands,
              const RowData& result, std::span<const std::int64_t> batch,
              std::span<const std::int64_t> has);

}  // namespace hindcast::python
