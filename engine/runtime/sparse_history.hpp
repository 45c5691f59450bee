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

class ThreadPool;

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

    // On the threads of a pool, which find in their caches what they have added (Occupied);
    // nullptr: on this one.
    void save(std::int64_t slot, ThreadPool* pool = nullptr);
    bool holds(std::int64_t slot) const { return holds_[static_cast<std::size_t>(slot)] != 0; }
    // The array is what it was; only if the slot holds it.
    void restore(std::int64_t slot, ThreadPool* pool = nullptr) const;

private:
    // A slot: a bit per line of the array, then the lines that are not zero, one behind the other.
    std::byte* slot_at(std::int64_t slot) const {
        return const_cast<std::byte*>(memory_.data()) +
               static_cast<std::size_t>(slot) * slot_bytes();
    }

    std::byte* lines_of(std::int64_t slot) const {
        return slot_at(slot) + slot_bytes() - room_ * line;
    }
    backend::Occupied words_of(const backend::Occupied& elements) const;
    backend::Occupied busy_words() const;
    backend::Occupied elements_of(const std::uint64_t* words) const;
    template <class Body>
    void each(const backend::Occupied& words, ThreadPool* pool, const Body& body) const;

    static constexpr std::size_t line = 64, bits = 64;  // bytes of a line; lines of a word
    static constexpr std::int64_t word_bytes = line * bits;

    Array array_;
    std::size_t lines_, words_, room_;  // words of bits; lines in a slot
    std::int64_t element_bytes_;        // 0: elements do not lie one behind the other
    AlignedBuffer<std::byte> memory_;
    std::vector<char> holds_;
};

}  // namespace hindcast
