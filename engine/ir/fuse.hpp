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
//
// Buffers need not be memory. A kernel's stored values may be passed on to the kernels after it
// alone; and a buffer of own elements that are zero before the first kernel, and zero again after
// the last that touches it (an adjoint that one kernel adds to and the next one takes), may be left
// to the fused kernel: if nothing else reads them, both stay values.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

// A kernel to fuse: per parameter a number for the memory that it is bound to; -1: unused.
struct FusionPiece {
    const Kernel* kernel = nullptr;
    std::vector<int> buffer;
    // Per parameter: the number of a buffer without memory in which the kernels after this one find
    // the values it stores: its own buffer, if it does not read it, or a new one. -1, or no entry:
    // it stores in its buffer.
    std::vector<int> passes = {};

    int passed(std::size_t parameter) const {
        return parameter < passes.size() ? passes[parameter] : -1;
    }
};

// Why these kernels, in this order, cannot be fused; "" if they can. `zero`: buffers that are zero
// before and after, and no memory.
std::string cannot_fuse(const std::vector<FusionPiece>& pieces, const std::set<int>& zero = {});

struct FusedKernel {
    Kernel kernel;
    // Per piece and parameter: the parameter of the fused kernel; -1: unused, or no memory.
    std::vector<std::vector<int>> parameters;
};
// Throws Error if cannot_fuse().
FusedKernel fuse(const std::string& name, const std::vector<FusionPiece>& pieces,
                 const std::set<int>& zero = {});

}  // namespace hindcast::ir
