// Accumulation by gathering: the inverse of a static index.
//
// A kernel that adds to force[a[i]] and force[b[i]] writes its contributions to scratch memory in order of item. The
// inverse index lists for every target which contributions are its own, in order of item and, within an item, in the
// order executed. A second pass lets each target add them up: no atomics, and the same bits for any number of threads.
// Inverting costs about as much as a few launches; it is done once per version of the index buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/backend/executable.hpp"
#include "engine/base/aligned.hpp"

namespace hindcast::backend::cpu {

struct Row;

// Whether an index depends only on the item, constants, integer launch parameters and integer Read buffers.
bool is_static_index(const ir::Kernel& kernel, ir::Value index);

// For one parameter: where the contributions to each target lie, in elements of scratch memory: row * items (rounded up)
// + item. Letting force[b] -= f share the memory of force[a] += f, with a sign per entry, took longer.
struct Inverse {
    AlignedBuffer<std::uint32_t> first;  // per target, and one more: its first entry
    AlignedBuffer<std::uint32_t> entries;
};

// What an inverse was made from. Two launches with equal keys have equal inverses.
class IndexKey {
public:
    IndexKey(const ir::Kernel& kernel, const std::vector<Row>& rows);
    // Fills `key` without allocating once it has its size.
    void read(const Binding* bindings, std::int64_t items, std::int64_t targets, std::vector<std::uint64_t>& key) const;

private:
    std::vector<int> buffers_;
    std::vector<std::pair<int, int>> values_;  // parameter, component
    std::vector<ir::Type> types_;
};

// Items rounded up to whole vectors: the length of one row of scratch memory.
inline std::int64_t scratch_items(std::int64_t items) { return (items + 63) & ~std::int64_t{63}; }

Inverse invert(const ir::Kernel& kernel, const std::vector<Row>& rows, const Binding* bindings, std::int64_t items,
               std::int64_t targets);

// One group of up to four components of one parameter.
struct GatherPass {
    const Inverse* inverse;
    const void* scratch;  // row 0 of the group
    void* target;         // first component of the group, element 0
    std::int64_t element_stride, component_stride;
    int components;
    bool clear;           // start from 0, not from what is there
    bool wide;            // f64
};
void gather(const GatherPass& pass, std::int64_t begin, std::int64_t end);

}  // namespace hindcast::backend::cpu
