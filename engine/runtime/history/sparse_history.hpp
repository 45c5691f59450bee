// SparseHistory: an array of mostly zeros, kept once per step of a window.
//
// A launch that runs once more on the way back (schedule/rematerialization.hpp) and defines its
// arrays as sums, such as points that add to a grid, leaves elements zero that no item adds to.
// Copying the cache lines that are not zero takes a tenth of the time of making them again, and a
// fraction of the array's memory. A slot has room for a quarter of the lines; an array with more of
// them is not kept, and is made again as if there were no history. That choice depends on the
// values alone, and the results have the same bits either way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/base/aligned.hpp"
#include "engine/runtime/array/array.hpp"

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

    // Keeps the array, by a deferred loop. The slot can be queried and restored once that has run.
    void save(std::int64_t slot, backend::DeferredWork& deferred);
    bool holds(std::int64_t slot) const;
    // Gives the array its kept values once the deferred loops have run. Requires holds(slot).
    void restore(std::int64_t slot, backend::DeferredWork& deferred) const;

private:
    static constexpr std::int64_t line = 64, bits = 32;  // bytes of a line; lines of a word

    // The array is cut into blocks of DeferredWork::block units: elements or, where those do not
    // lie one behind the other, lines. A slot: for each block that may hold something, where its
    // lines that are not zero begin, and a bit for each of its lines; then these lines, block by
    // block in the order in which threads came to them. A block that found no room has none.
    struct Slot {
        std::uint32_t* words = nullptr;
        std::byte* lines = nullptr;
    };
    struct Kept {
        bool is_filled = false;
        backend::ActiveRange busy;              // blocks; nothing is in the others
        backend::ActiveRange::Columns columns;  // of its units; nothing is in the others
        std::int64_t lines = 0;                 // that are not zero
    };
    Slot slot(std::int64_t number) const;
    backend::ActiveRange blocks_of(const backend::ActiveRange& units) const;
    backend::ActiveRange busy_blocks() const;
    backend::ActiveRange units_of(const backend::ActiveRange& blocks) const;
    backend::ActiveRange filled(std::int64_t number) const;
    std::int64_t mark(std::int64_t block, std::uint32_t* words) const;
    void save_block(std::int64_t block, const std::uint32_t* words, std::byte* to) const;
    void restore_block(std::int64_t block, const Slot& from) const;
    void save_part(std::int64_t number, std::int64_t begin, std::int64_t end);
    void fetch_before(std::int64_t number, const backend::ActiveRange& blocks) const;
    void restore_part(std::int64_t number, std::int64_t begin, std::int64_t end) const;
    backend::DeferredWork::Loop loop_over(const backend::ActiveRange& blocks) const;

    Array array_;
    bool by_elements_;
    std::int64_t bytes_, unit_bytes_, units_, blocks_;
    std::int64_t block_lines_, block_words_;  // words: the first says where the lines are
    std::int64_t room_;                       // lines in a slot
    AlignedBuffer<std::byte> memory_;
    std::vector<Kept> kept_;
};

}  // namespace hindcast
