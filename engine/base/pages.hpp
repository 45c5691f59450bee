// Memory of the machine: bytes that are free, and pages that are there before they are used.
//
// A system that promises more memory than it has ends a program later, without a message. Scenes whose
// numbers ask for much are therefore compared with free memory before any is taken.
//
// The system backs a large block page by page when it is first written to. That can take longer
// than the work that writes: in a virtual machine the 300 MiB of histories that a roll-out filled
// took longer to be backed than the roll-out and its adjoints together. Code that will use a whole
// block soon has it backed at once, and not in the middle of a measurement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hindcast {

// Bytes that the system says are free, within the limit of this process's control group.
std::int64_t free_memory();

// "about 7.4 GiB, and 3.1 GiB are free" if so many bytes are not free, swap space included; else "".
std::string lack_of_memory(double bytes);

// Every page of a block is backed by memory; what it holds stays. `block` from allocate_aligned().
void populate(void* block, std::size_t bytes);

}  // namespace hindcast
