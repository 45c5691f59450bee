// Batch: the same small program for many members, side by side in SIMD lanes.
//
// A text (program.hpp) that works on the memory of one member becomes a text for `lanes`
// members: its kernels go through ir::batch, copies and clears grow, and every block of memory that
// can differ between members is kept once per group of lanes, member innermost: scalar s of member
// l of a group lies at [s * lanes + l]. One compiled function serves all groups; groups run on the
// threads of a pool, in any order. Memory that neither texts nor members change is shared.
//
//     Batch batch({forward, backward}, {parameter.data()}, 16, 0, 64);
//     for (...) { ... batch.put(m, parameter.data()); }    // takes what stands there now
//     batch.run(0, pool);
//     batch.get(m, state.data());                          // and brings it back
//
// A group in which a member faults, or in which a check finds a number that is not finite, is
// reported: its members must be run alone, which tells which one it is and stops where it stops.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/cpu/program/program.hpp"
#include "engine/base/aligned.hpp"

namespace hindcast {
class ThreadPool;
}

namespace hindcast::backend {

class Batch {
public:
    // The texts share memory. `differs`: memory that is a member's own although no text writes it.
    // `width` as in CompileOptions. Throws Error, with the reason, for a text that cannot be a
    // batch, or for too little memory.
    Batch(std::vector<ProgramText> texts, std::span<const void* const> differs, int lanes,
          int width);
    ~Batch();

    int lanes() const { return lanes_; }
    std::int64_t group_bytes() const { return group_bytes_; }

    // Memory for at least so many members, whole groups, each a copy of what stands in the texts'
    // memory now.
    void resize(std::size_t members);
    std::size_t members() const { return members_; }
    // A member's copy of the block at this address: set to, or copied to, what stands there. Blocks
    // that all share, or that no text uses, are left alone.
    void put(std::size_t member, const void* memory);
    void get(std::size_t member, void* memory) const;
    // Sets all numbers of a block of reals, for all members. Blocks that no text uses as numbers
    // are left alone.
    void fill(const void* memory, double value);

    // Runs text number `which` for all groups that are not marked, and marks those of which the
    // members must be run alone.
    void run(std::size_t which, ThreadPool* pool, std::vector<char>& marked);

private:
    enum class Kind : std::uint8_t { shared, group, lanes };
    struct Block {
        const char* begin = nullptr;
        const char* end = nullptr;
        std::int64_t scalar = 0;  // bytes; 0: not known
        bool written = false;     // by a text
        bool whole = false;       // one for a group: counters and flags
        bool numbers = false;     // of a known size
        Kind kind = Kind::shared;
        std::int64_t offset = 0;  // in a group's memory
    };
    struct Ranges;

    void find_blocks(std::span<const void* const> differs);
    void place_blocks();
    const Block* find(const void* memory) const;  // nullptr: no text uses it
    const Block& block(const void* memory) const;
    Block& block(const void* memory);
    void* moved(const void* memory) const;
    MovingMemory moved(const MovingMemory& memory) const;
    std::int64_t times(const void* memory) const;  // how often a group's memory holds it
    void add(const ProgramCall& call, std::vector<ProgramItem>& items);
    int same_memory(const ProgramCall& call, std::span<const MovingMemory> where, int p) const;
    ProgramText grown(const ProgramText& text);
    char* at(std::size_t group, const Block& block) const;
    void put_lane(std::size_t place, const Block& block);

    std::vector<ProgramText> texts_;
    int lanes_ = 1;
    std::vector<Block> blocks_;  // ascending
    std::vector<const void*> flags_;
    std::int64_t group_bytes_ = 0;
    std::size_t members_ = 0;
    std::deque<ir::Kernel> kernels_;
    std::vector<std::unique_ptr<CpuProgram>> programs_;  // one per text
    AlignedBuffer<char> model_;                          // the addresses that the code is made with
    AlignedBuffer<char> memory_;                         // of all groups
    std::vector<std::vector<std::shared_ptr<CpuProgram::Frame>>> frames_;  // per text and group
};

}  // namespace hindcast::backend
