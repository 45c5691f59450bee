// Memory pages that are there before they are used.
//
// The system backs a large block page by page when it is first written to. That can take longer
// than the work that writes: in a virtual machine the 300 MiB of histories that a roll-out filled
// took longer to be backed than the roll-out and its adjoints together. Who knows that a block will
// be used as a whole, and soon, lets that happen at once, and not in the middle of what is
// measured.
#pragma once

#include <cstddef>

namespace hindcast {

// Every page of a block is backed by memory; what it holds stays. `block` from allocate_aligned().
void populate(void* block, std::size_t bytes);

}  // namespace hindcast
