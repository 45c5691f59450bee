// Noted work as a program of one block: one kernel, launched with a single block, does all
// launches, copies and clears of a graph, with a barrier between those that depend on each other. A
// scene of a few points is bound by the cost of a graph's node, some microseconds; a barrier costs
// less than a tenth of that. The same items, in the same order where order matters: the same bits.
//
//     __global__ block_HASH(records, count):
//         for each group of pieces:              up to the next barrier
//             for each piece of the group:       read from its record: the function, its arguments
//                 its items, spread over the threads of the block
//             barrier
//
// The text has one case for each function of the work; arguments that change from step to step,
// such as the slots of histories, stand in the records. So a program holds whatever a graph holds:
// seeds, events, segments that are run again, the optimiser's update. The text is compiled once for
// all work of these functions.
//
// The graph and its program are timed against each other, in runs that are made anyway, once those
// of the graph have taken as long as compiling does. The finding is kept in the code cache under
// the functions with their texts, the items of all pieces, and the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/cuda/driver.hpp"
#include "engine/backend/single_block_use.hpp"
#include "engine/base/hash.hpp"

namespace hindcast::backend {
struct Binding;
}

namespace hindcast::backend::cuda {

class Block;
class Context;
struct Function;

// Memory of the device that work reads, or writes (and may read).
struct Use {
    Address begin = 0, end = 0;
    bool writes = false;
};
// All of an array. Strides of less than zero: nothing is said, which means any memory.
Use use_of(const Binding& array, int components, std::size_t scalar_bytes, bool writes);

// The arguments that a launch hands to a function: their addresses and sizes.
struct ArgumentView {
    void** values = nullptr;
    const std::uint8_t* bytes = nullptr;
    std::size_t count = 0;
};

// Functions over items, in the order in which they were put on a stream.
class Pieces {
public:
    struct Piece {
        const Function* function = nullptr;
        int items = 0;
        std::size_t slots = 0, uses = 0;  // where those of the next piece begin
    };
    // No uses: of any memory.
    void add(const Function& function, std::int64_t items, const ArgumentView& arguments,
             std::span<const Use> uses);
    void add_copy(Address to, Address from, std::size_t bytes);
    void add_fill(Address to, std::uint32_t value, std::size_t bytes);

    std::size_t size() const { return pieces_.size(); }
    const Piece& operator[](std::size_t k) const { return pieces_[k]; }
    std::span<const std::uint64_t> slots(std::size_t k) const;  // the arguments, 8 bytes each
    std::span<const Use> uses(std::size_t k) const;
    // "" or what no program can do.
    const std::string& refusal() const { return refusal_; }

private:
    std::vector<Piece> pieces_;
    std::vector<std::uint64_t> slots_;
    std::vector<Use> uses_;
    std::string refusal_;
};

// After which pieces all threads wait: before one that uses what a piece since the last barrier
// writes, or writes what one uses.
std::vector<char> barriers(const Pieces& pieces);

// A program that is ready to run.
class BlockProgram {
public:
    static constexpr int most_threads = 512;

    // The text of the kernel `name` for these functions, which are the cases 0, 1, ... (C++: what
    // the prelude, the phases' functions and NAME_item of kernels make valid).
    static std::string text(const std::string& name, const std::vector<const Function*>& functions);

    // `waits`: see barriers(). Throws Error if the device or NVRTC refuses.
    BlockProgram(Context& context, const Pieces& pieces, const std::vector<char>& waits);
    ~BlockProgram();
    BlockProgram(const BlockProgram&) = delete;
    BlockProgram& operator=(const BlockProgram&) = delete;
    void put(Context& context, StreamHandle stream) const;
    int threads() const { return threads_; }
    int pieces() const { return count_; }

private:
    const Function* function_ = nullptr;
    std::unique_ptr<Block> records_;
    int count_ = 0, threads_ = 0;
};

// The choice between a graph and the program of its pieces.
class SingleBlock {
public:
    SingleBlock(Pieces pieces, const std::string& device);
    ~SingleBlock();

    // True if the next run is the program's, then ready. Throws Error if `always` cannot be met.
    bool is_next(Context& context, SingleBlockUse use);
    bool wants_time() const;  // of the run that is_next() was asked about
    void note(bool as_program, double seconds);
    void put(Context& context, StreamHandle stream) const { program_->put(context, stream); }
    // A report on the last run: "one block of 32 threads, 157 pieces (12 us against 60 us as a
    // graph)"; or the words that follow those for a graph: "", " (9 us against 12 us as one
    // block)", ", not one block: " and why.
    std::string report() const;
    bool runs_as_program() const { return as_program_; }

private:
    enum class Choice : std::uint8_t { open, graph, program };
    struct Times {
        int runs = 0;
        double least = 1e300;  // seconds
    };
    void make(Context& context);
    void recall();
    std::string too_large() const;

    Pieces pieces_;  // until there is a program, or none is wanted
    Hash128 key_;
    Choice choice_ = Choice::open;
    std::unique_ptr<BlockProgram> program_;
    std::string refusal_;
    bool as_program_ = false, warm_ = false;
    int replays_ = 0;
    Times graph_, own_;
};

}  // namespace hindcast::backend::cuda
