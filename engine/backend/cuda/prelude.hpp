// The prelude of the CUDA text of every kernel: conversions, faults, sums in fixed point; and the
// layouts of the structures it shares with the host.
#pragma once

#include <cstdint>

namespace hindcast::backend::cuda {

extern const char* const prelude;

// A launch's fault: the lowest item that has one.
struct Fault {
    std::uint64_t key = ~std::uint64_t{0};  // item << 32 | op
    std::int64_t index = 0;                 // that is out of range; of a loop: 0
    std::int32_t lock = 0;
};
// The sums in fixed point of one parameter. The phase fixed_scale sets what follows kinds.
struct Fixed {
    std::uint64_t* sums = nullptr;   // [element][component]; f64: then the low limbs, as many
    std::uint32_t* kinds = nullptr;  // [element][component]: sets of NonFinite
    double factor[2] = {1, 1}, low_factor = 1;
    double unit[2] = {1, 1};    // their product is one unit of the last limb
    std::uint64_t largest = 0;  // bits of the largest finite |term|, as f64
    std::uint64_t terms = 0;    // counted, if FixedPoint::counted
    std::int32_t low_bits = 0;
};

}  // namespace hindcast::backend::cuda
