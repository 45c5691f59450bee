// What every back end offers: a kernel made ready to run, and what its parameters are bound to.
//
// Semantics common to all back ends (the interpreter is the definition, the others are tested
// against it bit by bit):
//  - items run 0 .. items-1; nothing an item computes depends on another item of the same launch.
//  - accumulate: each target component receives its terms in order of item, and within an item in
//    the order executed, starting from what was there, each sum rounded to the parameter's type.
//    Parameters with sites at dynamic indices, or in loops at others than the own index, are summed
//    in fixed point instead (fixed_point.hpp): exactly, and added to what is there when all other
//    accumulation is done, in order of parameter. An index out of range in such a site is always a
//    fault. `sum` clears the whole array first.
//  - reduce: an item's terms are added in f64 in the order executed, starting from +0. Items are
//    cut into chunks of reduce_chunk; within a chunk, lane l of reduce_lanes adds the totals of
//    items i = l mod reduce_lanes in order; the lanes are added pairwise (0+8, 1+9, ...; then 0+4, ...; 0+2, ...;
//    0+1); chunk totals are added in order of chunk, starting from +0; the launch adds that total
//    to the target, which is f64 in both precisions.
//  - a real launch parameter is f64 in memory and rounded once to the kernel's real type.
//  - faults (loop over its limit, index out of range in checked mode) end the launch with an Error
//    that names the kernel, the source place and the lowest item concerned; what the launch wrote
//    is then undefined.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/optional_passes.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast {
class ThreadPool;
}

namespace hindcast::backend {

class DeferredWork;

inline constexpr std::int64_t reduce_chunk = 1024;
inline constexpr int reduce_lanes = 16;

// Where an array was last added to in fixed point: elements begin .. end-1, where points met the
// grid, say; what lies outside is mostly idle. Work on all elements is cut so that each thread gets
// an equal part of these, and finds in its cache what it has there. No bit depends on it.
struct ActiveRange {
    // Of these elements only those with begin <= element % period < end; all, if period is 0. The
    // elements of a grid stand row by row, and points touch a part of each.
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

// What is known of an array. At the version `known`, its elements outside of busy.begin ..
// busy.end-1 are idle: all their bits are zero or, if `by` is not 0, they are what a kernel makes
// of zeros (unchanged_items.hpp has the number).
struct ArrayFacts {
    std::uint64_t version = 0, known = 0, by = 0;  // known = version: of what it holds now
    ActiveRange busy;

    bool is_idle(std::uint64_t number = 0) const { return known == version && by == number; }
};
// What a launch has found out of the array that one of its parameters is bound to.
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
    // What is gathered: rows may touch each other where they are widened.
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

// What one parameter of a launch is bound to. Strides are in scalars.
struct Binding {
    void* data = nullptr;    // component 0 of element 0. Value and reduce parameters: see below.
    std::int64_t count = 0;  // elements (value, reduce: 1)
    std::int64_t element_stride = 0;  // 0: every index reads the one element (read only)
    std::int64_t component_stride =
        1;  // C-contiguous arrays of vectors: element_stride = components, this = 1
    // Changes whenever the contents change, and is never used again at this address: index arrays
    // are inverted, and copies made, once per version. 0: unknown (integers: they never change).
    std::uint64_t version = 0;
    // readable_behind() (base/aligned.hpp) bytes behind the last element may be read.
    bool padded = false;
    bool kept = false;  // in a history: at the next launch its values lie elsewhere
    ActiveRange* occupied = nullptr;
    const ArrayFacts* contents = nullptr;  // of the array, if that is what `data` belongs to
    // Value parameters: data points to `components` scalars, f64 for real parameters, else the
    // parameter's own type. Reduce parameters: data points to `components` f64.

    // Whether both are the same elements in memory.
    bool is_same(const Binding& other) const {
        return data == other.data && count == other.count &&
               element_stride == other.element_stride && component_stride == other.component_stride;
    }
};

// An array in the memory of the host, and a block of memory in which everything has the place that
// it has in the array.
struct Copy {
    Binding array;
    int components = 1;
    std::size_t scalar = 0;  // bytes
    std::byte* block = nullptr;

    // From the first element to the last.
    std::size_t bytes() const {
        if (array.count == 0) return 0;
        const std::int64_t last =
            (array.count - 1) * array.element_stride + (components - 1) * array.component_stride;
        return static_cast<std::size_t>(last + 1) * scalar;
    }
};

// What errors say of a launch.
struct LaunchWords {
    std::string name;
    std::function<std::string()> arguments = {};  // as they stand when it is asked

    // "the launch 'push' with rate = 0.1; x: f64 [40, 2]"
    std::string text() const {
        const std::string with = arguments ? arguments() : "";
        return "the launch '" + name + "'" + (with.empty() ? "" : " with " + with);
    }
    // The same as a note to an error that names the kernel, which may be the launch's name too:
    // "in the launch ..." or "launched with rate = ..."; or "".
    std::string note(const std::string& kernel) const {
        if (name != kernel) return "in " + text();
        const std::string with = arguments ? arguments() : "";
        return with.empty() ? with : "launched with " + with;
    }
};

struct RunOptions {
    ThreadPool* pool = nullptr;  // nullptr: on the calling thread
    // On a device with memory of its own: the stream (nullptr: the context's), and where the host
    // has what Executable::reads_on_host() names, bound like the rest.
    void* stream = nullptr;
    const Binding* host = nullptr;
    // Both only where takes_deferred_work(). Copies are made before the launch changes their arrays.
    // Work that only goes over elements is added to `deferred`; all other work runs it first.
    std::span<const Copy> copies = {};
    DeferredWork* deferred = nullptr;
    // Gets what is known of the arrays afterwards; nullptr: launches leave nothing out.
    std::vector<FactUpdate>* learned = nullptr;
};

// A kernel ready to run. Immutable apart from caches of index structures; one thread calls run() at
// a time.
class Executable {
public:
    virtual ~Executable() = default;
    // `bindings` has one entry per kernel parameter, in order, already checked by the caller
    // (types, aliasing). A parameter that no op uses may have null data.
    virtual void run(const Binding* bindings, std::int64_t items, const RunOptions& options) = 0;
    // Compiles what such a run() needs, so that the first run does not wait for it. Only counts and
    // strides are looked at.
    virtual void prepare(const Binding* /*bindings*/, std::int64_t /*items*/) {}
    // Whether a launch with such bindings looks at an integer parameter before it runs: bindings
    // point into the memory of a device.
    virtual bool reads_on_host(const Binding* /*bindings*/, int /*parameter*/) { return false; }
    // Whether run() makes RunOptions::copies, on the threads that run the items, and knows what to
    // do with RunOptions::deferred.
    virtual bool takes_deferred_work() const { return false; }
    virtual const ir::Kernel& kernel() const = 0;
};

struct CompileOptions {
    int width = 0;  // SIMD lanes: 1, 4, 8, 16; 0 = chosen from the machine. Never changes a bit of
                    // the result.
    bool checked = false;  // bounds, second stores, non-finite values
    PassSet passes = {};
};

}  // namespace hindcast::backend
