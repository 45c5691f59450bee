// The largest element of an energy.
#pragma once

namespace hindcast {

// Elements of at most so many rows (EnergyKernels) are looked at on the stack.
inline constexpr int most_rows = 36;

}  // namespace hindcast
