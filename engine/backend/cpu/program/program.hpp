// CpuProgram: a small program as one function: its launches, the loops over its steps, its saves
// and restores, compiled together. There is no dispatch, no per-launch bookkeeping and no thread;
// the arithmetic is that of the launches, so the bits are too.
//
//     ProgramText text;                      // what to run, in order
//     text.parts.push_back({calls, 0, 30});  // calls with t = 0 .. 29
//     if (cannot_compile(text).empty()) { CpuProgram program(text, width); program.run(); }
//
// Kernels become functions that LLVM inlines; loops over steps stay loops, so that compiling takes
// a fraction of a second whatever the number of steps. Accumulation at static indices goes through
// scratch memory and the inverse index (inverse_index.hpp), as in single launches without loops
// over targets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/backend/binding.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast::backend {

// Memory that moves with the step: base + (t + offset) * bytes.
struct MovingMemory {
    void* base = nullptr;
    std::int64_t bytes = 0;
    std::int64_t offset = 0;
};

struct ProgramCall {
    const ir::Kernel* kernel = nullptr;  // as traced or derived; must outlive the program
    std::vector<Binding> bindings;       // integer Read arrays are looked at when compiled
    std::int64_t items = 0;
    std::string description;  // in errors
    // Parameters that find their data elsewhere at each step.
    std::vector<std::pair<int, MovingMemory>> moving;
};
struct ProgramCopy {  // of `to.bytes` or, where that does not move, `bytes`
    const void* from = nullptr;
    MovingMemory to;
    std::int64_t bytes = 0;
};
struct ProgramClear {
    void* at = nullptr;
    std::int64_t bytes = 0;
};
struct ProgramCounter {  // *at = t + offset
    std::int32_t* at = nullptr;
    std::int64_t offset = 0;
};
struct ProgramCheck {  // *flag = 1 if a number is not finite; only where t + offset divides by
                       // every
    const void* data = nullptr;
    ir::Type type = ir::Type::f32;
    std::int64_t scalars = 0;
    std::int64_t offset = 0, every = 1;
    std::int32_t* flag = nullptr;
};
using ProgramItem =
    std::variant<ProgramCall, ProgramCopy, ProgramClear, ProgramCounter, ProgramCheck>;

// Items for t = begin, begin + 1, ... end - 1 or, where end < begin, t = begin - 1, ... end. In a
// ranged text only the direction counts.
struct ProgramPart {
    std::vector<ProgramItem> items;
    std::int64_t begin = 0, end = 1;
};
struct ProgramText {
    std::vector<ProgramPart> parts;
    int lanes = 1;        // of batch.hpp: arrays are so many times as large, items are lanes
    bool ranged = false;  // one part, whose range is told when it runs
};

// "" or why this program cannot be one function: too large, a kernel that must be launched.
std::string cannot_compile(const ProgramText& text);
// True if the call adds at indices that depend on one of these integer parameters. It gathers by
// the inverse of the indices as they are when it is compiled.
bool gathers_by(const ProgramCall& call, const std::vector<int>& parameters);

// Working memory that a CpuProgram of this text will need besides its arrays: scratch memory,
// totals and inverse indices of its calls, in bytes. For texts that can be compiled; compiles
// nothing.
std::int64_t working_bytes(const ProgramText& text, int width);

class CpuProgram {
public:
    // Throws Error if the text cannot be compiled. `width` as in CompileOptions.
    CpuProgram(const ProgramText& text, int width);
    ~CpuProgram();
    // Throws Error for a fault (a loop over its limit), as a launch does.
    void run();
    // Runs a ranged text for t = begin ... end - 1 (not empty), or backwards. Moving memory lies at
    // base + (t - shift + offset) * bytes.
    void run(std::int64_t begin, std::int64_t end, std::int64_t shift);
    std::int64_t working_bytes() const;

    // The same code on other memory: what the text has in [begin, begin + bytes) lies `shift` bytes
    // further on. Frames may run at the same time. Throws Error for a program with sums.
    class Frame;
    std::shared_ptr<Frame> frame(const void* begin, std::int64_t bytes, std::int64_t shift) const;
    void run(Frame& frame) const;

private:
    friend std::int64_t backend::working_bytes(const ProgramText& text, int width);
    class Writer;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hindcast::backend
