// Copies of arrays, made by the threads that work with their elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/backend/executable.hpp"

namespace hindcast::backend {

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

// From the arrays into the blocks, or back. Launches over as many items cut them alike (split.hpp),
// so that a thread copies what it has in its cache; what is small stays on the caller.
void copy_out(std::span<const Copy> copies, ThreadPool* pool);
void copy_back(std::span<const Copy> copies, ThreadPool* pool);

}  // namespace hindcast::backend
