// The phases of a launch after its items have run, as CUDA C++ text: functions that add up what the
// items left in memory (emit.hpp), in the order that executable.hpp defines.
//
//     gather_f32, gather_f64   one thread per target: adds the terms of the target, in order
//         (T* target, long long stride, long long plane, const T* terms, int rows,
//          long long row_length, const unsigned* first, const unsigned* entries, int components,
//          int clears, int items = targets)
//     fixed_scale              one thread: sets the scale of a parameter's sums, see fixed_scale()
//                              in fixed_point.hpp; terms is -1 for those that were counted
//         (Fixed* fixed, long long terms, int two_limbs, int items = 1)
//     fixed_f32, fixed_f64     one thread per target: adds its totals in fixed point, and clears
//                              them
//         (T* target, long long stride, long long plane, Fixed* fixed, int components, int defines,
//          int items = targets)
//         defines: stored, not added
//     fill_4, fill_8           one thread per element: its components, of 4 or 8 bytes, are set
//         (unsigned* target, long long stride, long long plane, int components, unsigned value,
//          int items)
//     add_f32, add_f64         one thread per scalar: target += own
//         (T* target, const T* own, int items)
//     widen, narrow            one thread per scalar: from f32 to f64, and back
//         (To* to, const From* from, int items)
//     not_finite_f32, _f64     one thread per scalar: sets the flag if it is not finite
//         (const T* values, int* flag, int items)
//     reduce_lanes             one thread per component, chunk and lane: 64 items in order
//         (const double* reduced, int count, int chunks, double* lanes, int items = threads)
//     reduce_chunks            one thread per component and chunk: the lanes, pairwise
//         (const double* lanes, double* totals, int items = components * chunks)
//     reduce_total             one thread per component: the chunks in order, added to the target
//         (const double* totals, int chunks, double* target, int items = components)
//
// `first` and `entries` are those of InverseIndex: entry = row * row_length + item. No barrier and
// no shared memory: each phase is a launch.
#pragma once

#include <string>

namespace hindcast::backend::cuda {

// The text of all phases, to stand behind the prelude.
std::string phases();

}  // namespace hindcast::backend::cuda
