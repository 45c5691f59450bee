// Writes a planned kernel as LLVM IR text with explicit vectors.
//
//     void kernel(const Binding* bindings, i64 begin, i64 end, Context* context)
//
// runs items begin .. end-1, W at a time; the last block has a mask, and in long kernels, which it
// costs little, every block. Values that are the same for all items are scalars, and control flow
// that depends on them alone is real branches; values that depend on the item are vectors of W
// lanes (one lane: everything is scalar). If lanes part ways both sides run under masks; effects
// never touch memory for a lane that is masked out, and loads read element 0 for it. Values that
// change in a region are stack variables, which LLVM turns into registers.
//
// Start reading at kernel_writer.hpp.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "engine/backend/plan/fault.hpp"
#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

// Context: data that code and launch share while it runs. The emitted code knows the offsets.
struct Context {
    double* totals = nullptr;        // [reduce component][reduce_lanes]: of the chunk under way
    char* arena = nullptr;           // local arrays
    char* const* scratch = nullptr;  // see Plan::scratch
    KernelFault fault;
    struct FixedState* fixed = nullptr;  // per parameter of Plan::fixed_symbols
};

// A kernel as a module of its own.
std::string emit(const Plan& plan);

// A kernel as a function of a larger module, whose arrays change between its calls:
//     void NAME(Context* context, i64 begin, i64 end, ptr data of parameter 0, 1, ...)
// Counts and strides are those of `shape`; data pointers of written arrays alias no others.
struct Embedding {
    const Binding* shape = nullptr;
    bool inlined = true;
};
struct EmbeddedFunction {
    std::string text;  // behind the name, which the caller chooses
    std::set<std::string> declarations;
    bool uses_fault = false;
};
EmbeddedFunction emit_embedded(const Plan& plan, const Embedding& embedding);
// The function that the text calls if it uses_fault; metadata that all text refers to.
std::string fault_function();
extern const char* const module_end;

}  // namespace hindcast::backend::cpu
