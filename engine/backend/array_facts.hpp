// Facts that launches learn about arrays: which ranges are busy.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hindcast::backend {

// The range of elements begin .. end-1 that was last added to in fixed point (where points met the
// grid, say); elements outside are mostly idle. Work on all elements is cut so that each thread
// gets an equal part of the range, and finds its part in its cache. No bit depends on it.
struct ActiveRange {
    // Restricts the range to elements with begin <= element % period < end; no restriction if
    // period is 0. The elements of a grid stand row by row, and points touch a part of each row.
    struct Columns {
        std::int32_t period = 0, begin = 0, end = 0;
    };
    std::int64_t begin = 0, end = 0;
    Columns columns{};

    // As counted from an element, with all columns.
    ActiveRange from(std::int64_t first) const {
        return {std::max(begin - first, std::int64_t{0}), end - first};
    }
    // Calls body(begin, end) for what of it is among elements `from` .. to-1, in rising order;
    // with columns, widened to whole blocks of so many elements. `from` is a multiple of `block`.
    template <class Body>
    void each(std::int64_t from, std::int64_t to, std::int64_t block, const Body& body) const;
};

// Facts about one array. At the version `known`, its elements outside of busy.begin .. busy.end-1
// are idle: all their bits are zero or, if `by` is not 0, they are the values that a kernel
// computes from zeros (unchanged_items.hpp has the number).
struct ArrayFacts {
    std::uint64_t version = 0, known = 0, by = 0;  // known = version: of what it holds now
    ActiveRange busy;

    bool is_idle(std::uint64_t number = 0) const { return known == version && by == number; }
};
// Facts that a launch has learned about the array that one of its parameters is bound to.
struct FactUpdate {
    int parameter = 0;
    ActiveRange busy;
    std::uint64_t by = 0;
};

// The elements in one or the other, and those between.
inline ActiveRange hull(const ActiveRange& a, const ActiveRange& b) {
    if (a.begin >= a.end) return b;
    if (b.begin >= b.end) return a;
    ActiveRange both{std::min(a.begin, b.begin), std::max(a.end, b.end)};
    if (a.columns.period == b.columns.period)
        both.columns = {a.columns.period, std::min(a.columns.begin, b.columns.begin),
                        std::max(a.columns.end, b.columns.end)};
    return both;
}

template <class Body>
void ActiveRange::each(std::int64_t from, std::int64_t to, std::int64_t block,
                       const Body& body) const {
    from = std::max(from, begin);
    to = std::min(to, end);
    if (from >= to) return;
    if (columns.period == 0) {
        body(from, to);
        return;
    }
    std::int64_t row = from / columns.period * columns.period;
    // The range gathered so far: rows widened to whole blocks may touch each other.
    std::int64_t first = from, behind = from;
    for (; row < to; row += columns.period) {
        const std::int64_t left = (row + columns.begin) / block * block;
        const std::int64_t right = (row + columns.end + block - 1) / block * block;
        if (left > behind) {
            if (first < behind) body(first, behind);
            first = left;
        }
        behind = std::clamp(right, behind, to);
        if (first >= to) return;
    }
    if (first < behind) body(first, behind);
}

}  // namespace hindcast::backend
