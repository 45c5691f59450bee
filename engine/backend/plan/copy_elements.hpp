// Copies of arrays, made by the threads that work with their elements.
#pragma once

#include <cstdint>
#include <span>

#include "engine/backend/binding.hpp"

namespace hindcast {
class ThreadPool;
}

namespace hindcast::backend {

// From the arrays into the blocks, or back. Launches over as many items cut them alike
// (work_split.hpp), so that a thread copies what it has in its cache; what is small stays on the
// caller.
void copy_out(std::span<const Copy> copies, ThreadPool* pool);
void copy_back(std::span<const Copy> copies, ThreadPool* pool);
// Elements begin .. end-1 on this thread.
void copy_out(const Copy& copy, std::int64_t begin, std::int64_t end);

}  // namespace hindcast::backend
