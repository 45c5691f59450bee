// Accumulation in fixed point: the definition that all back ends share.
//
// An accumulated parameter is summed in fixed point when some site adds to an element that is
// neither the item's own nor, outside loops, known from integer inputs (a particle adding to the
// grid). With
//   M   the largest finite |term| that the launch adds to any component of the parameter,
//   n   a bound of the terms that one component receives: items times the sites of a component, or,
//       where a site stands in a loop, the sites executed in the whole launch,
//   e   the least multiple of 4 with M < 2^e,      b = 62 - ceil(log2 n),
// a term x becomes the integer trunc(x 2^(b - e)), and in f64 a second one for what is cut off,
// trunc(rest 2^b). Integers are added, so any order gives the same bits, and n terms stay below
// 2^62: nothing overflows. A term within 2^-k of M keeps its relative accuracy of 2^-24 in f32
// while k <= b - 27, and every bit in f64 while k <= 2 b - 56; for a million items of nine sites b
// is 38. The total is converted once and added to what the target holds (Sum: stored); a total of
// zero changes nothing. A component that receives terms that are not finite becomes their IEEE sum:
// NaN after a NaN or infinities of both signs, else the infinity.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::backend {

// The accumulation of a parameter, from the kernel's text alone.
struct FixedPoint {
    bool used = false;
    bool counted = false;  // a site stands in a loop: the terms are counted as they are added
    int sites = 0;         // of the component that has most
};
// One per parameter. `kernel` as traced, before any lowering.
std::vector<FixedPoint> fixed_point_parameters(const ir::Kernel& kernel);

// A term is high * 2^-high_bits + low * 2^-(high_bits + low_bits); low is 0 in f32.
struct FixedScale {
    int high_bits = 0, low_bits = 0;
    bool operator==(const FixedScale&) const = default;
};
// `largest` is finite; 0 if every term is.
FixedScale fixed_scale(double largest, std::int64_t terms);

// The integers of a finite term: high, and low for f64.
struct FixedTerm {
    std::int64_t high = 0, low = 0;
};
FixedTerm fixed_term(double term, const FixedScale& scale, ir::Type type);

// Kinds of terms that are not finite: bits of the set that a component has received.
enum NonFinite : unsigned { positive_infinity = 1, negative_infinity = 2, not_a_number = 4 };
unsigned non_finite_kind(double term);  // 0 for a finite one
double non_finite_sum(unsigned kinds);

// The value of a total, rounded to the type. f32: by way of f64.
double fixed_value(std::int64_t high, std::int64_t low, const FixedScale& scale, ir::Type type);

}  // namespace hindcast::backend
