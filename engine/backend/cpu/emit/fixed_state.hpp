// The part of a fixed-point accumulation (launch/fixed_sums.hpp) that emitted code and the launch share.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

// One parameter's sums on one thread. The emitted code knows the offsets. The caller's fields and
// the thread's notes have cache lines of their own, and are written only when they change: fetching
// a line that another core has written takes as long as a hundred additions.
struct alignas(64) FixedState {
    std::int64_t* sums = nullptr;
    double factor[2] = {1, 1};  // multiplied one after the other: their product may overflow
    double low_factor = 1;      // for what is cut off
    std::int64_t shared = 0;    // others add to the same sums
    // Called for W items whose terms are not all finite: takes those out, [row][group][position].
    void (*sort_out)(FixedState*, void* terms, const std::int64_t* elements, std::uint64_t lanes,
                     std::int32_t group) = nullptr;
    const Plan* plan = nullptr;

    // The caller reads one cache line.
    alignas(64) std::uint64_t largest = 0;  // bits of the largest |term|, all terms being finite
    std::int64_t lowest = INT64_MAX, highest = -1;  // elements touched
    std::int64_t terms = 0;                         // counted
    double largest_finite = 0;                      // of the terms that sort_out saw, scaled
    std::uint64_t run = 0;                          // FixedPointSums::run() that this was noted of
    // The lowest and highest element % period touched, if period is not 0: see
    // ActiveRange::Columns.
    std::int32_t period = 0, leftmost = INT32_MAX, rightmost = -1;
    bool non_finite = false;
    struct Found {
        std::int64_t element;
        int component;
        unsigned kind;
    };
    std::vector<Found> found;

    void forget(std::uint64_t next) {
        largest = 0;
        lowest = INT64_MAX;
        highest = -1;
        period = 0;
        leftmost = INT32_MAX;
        rightmost = -1;
        terms = 0;
        largest_finite = 0;
        non_finite = false;
        found.clear();
        run = next;
    }
};

// Slots of one limb of an element: its groups of up to four components, padded. f64 has two limbs.
int fixed_slots(int components);
inline int fixed_limbs(ir::Type type) { return type == ir::Type::f64 ? 2 : 1; }
// The position of lane l of W among the terms of a group of n (padded) components, in elements.
int fixed_position(int lane, int width, int n, ir::Type type);

}  // namespace hindcast::backend::cpu
