// Bindings of a launch's parameters to memory, and copies of such memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hindcast::backend {

struct ActiveRange;
struct ArrayFacts;

// The memory that one parameter of a launch is bound to. Strides are in scalars.
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
    bool kept = false;  // in a history: the values move before the next launch
    ActiveRange* occupied = nullptr;
    const ArrayFacts* contents = nullptr;  // of the array, if that is what `data` belongs to
    // Value parameters: data points to `components` scalars, f64 for real parameters, else the
    // parameter's own type. Reduce parameters: data points to `components` f64.

    // True if both are the same elements in memory.
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

}  // namespace hindcast::backend
