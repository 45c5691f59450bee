// How a launch reaches the compiled text: every __global__ function has an entry that runs a whole
// grid, thread by thread, in the order that the driver asks for.
#pragma once

namespace software_cuda {

// The text sees the same layout, see shim.cpp. Block k of the order has the linear index
// (first_block + k * block_step) mod (number of blocks); threads in a block likewise.
struct Grid {
    unsigned blocks[3], threads[3];
    unsigned long long first_block, block_step, first_thread, thread_step;
};

// Before the text of a program: what CUDA C++ has and C++ has not.
extern const char* const shim;
// Behind the text, for each function NAME; @ stands for the name. Symbols: hindcast_run_NAME and
// hindcast_sizes_NAME, which gives the number of the arguments and their sizes.
extern const char* const entry;

}  // namespace software_cuda
