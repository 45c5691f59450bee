// Fusion: several kernels over the same items as one kernel, with the bits that they have one after
// the other.
//
// An element that one kernel stores and a later one reads at the item's own index stays a value;
// an element that is stored twice is stored once. Nothing else changes: kernels are fused after
// differentiation, nothing is contracted across them, and sums keep their order.
//
// For every buffer that two of them touch (the first by row, the second by column; own: at the
// item's own index; own sums, += at the own index alone, count as an own read and an own write):
//
//                   own read   own write   foreign read   accumulate
//   own read        ok         ok          ok             no
//   foreign read    ok         no          ok             no
//   own write       ok         ok          no             no
//   accumulate      no         no          no             no
//
// Launch parameters count as foreign reads; two reductions into one target are legal, since their
// totals are added in order of the kernels. Slices, atomics and Sums may not be shared.
#pragma once

#include <string>
#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

// A kernel to fuse: per parameter a number for the memory that it is bound to; -1: unused.
struct FusionPiece {
    const Kernel* kernel = nullptr;
    std::vector<int> buffer;
};

// Why these kernels, in this order, cannot be fused; "" if they can.
std::string cannot_fuse(const std::vector<FusionPiece>& pieces);

struct FusedKernel {
    Kernel kernel;
    // Per piece and parameter: the parameter of the fused kernel; -1: unused.
    std::vector<std::vector<int>> parameters;
};
// Throws Error if cannot_fuse().
FusedKernel fuse(const std::string& name, const std::vector<FusionPiece>& pieces);

// Whether a kernel adds to elements other than the item's own.
bool adds_to_others(const Kernel& kernel);

}  // namespace hindcast::ir
