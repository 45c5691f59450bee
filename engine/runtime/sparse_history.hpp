// SparseHistory: an array of mostly zeros, kept once per step of a window.
//
// A launch that is made again on the way back (Launch::make_again) and defines its arrays as sums,
// such as points that add to a grid, leaves zero what no item adds to. Copying the cache lines that
// are not zero takes a tenth of the time of making them again, and a fraction of the array's
// memory. A slot has room for a quarter of the lines; what does not fit is not kept, and is made
// again as if there were no history. Which it is depends on the values alone, and no bit on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/aligned.hpp"
#include "engine/runtime/array.hpp"

namespace hindcast {

class SparseHistory {
public:
    explicit SparseHistory(Array array);

    const Array& array() const { return array_; }
    std::size_t slot_bytes() const;
    std::size_t bytes() const { return memory_.size(); }
    // Memory for so many slots, which hold nothing. Throws Error.
    void allocate(std::int64_t slots);
    void release();
    void forget();  // no slot holds anything

    void save(std::int64_t slot);
    bool holds(std::int64_t slot) const { return holds_[static_cast<std::size_t>(slot)] != 0; }
    void restore(std::int64_t slot) const;  // the array is what it was; only if the slot holds it

private:
    // A slot: a bit per line of the array, then the lines that are not zero.
    std::byte* slot_at(std::int64_t slot) const {
        return const_cast<std::byte*>(memory_.data()) +
               static_cast<std::size_t>(slot) * slot_bytes();
    }

    Array array_;
    std::size_t lines_, words_, room_;  // words of bits; lines in a slot
    AlignedBuffer<std::byte> memory_;
    std::vector<char> holds_;
};

}  // namespace hindcast
