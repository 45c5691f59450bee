// Writes a planned kernel (planned for one lane, see plan.hpp) as CUDA C++ text.
//
//     extern "C" __global__ void NAME(arguments, Fault* fault, const int items)
//
// One thread runs one item: the text has the kernel's structure (branches, loops,
// names, and #line with the place in the physics source). No library call, no shared memory, no
// barrier and no contraction: compiled with --fmad=false, or by a host compiler behind
// tests/cuda_driver/shim.cpp, it has the bits of the interpreter.
//
// Sums over items take further phases (phases.hpp). Contributions to gathered parameters, and an
// item's terms for the targets of Reduce, are left in memory, one row of `items` numbers each. Sums
// in fixed point (fixed_point.hpp) are added by atomic instructions on integers: any order gives
// the same bits. Their scale depends on the largest term, which the text of a plan for measuring
// finds, and every text notes: a launch with the scale of the run before sees whether it was right.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cuda {

// One argument of the function.
struct Argument {
    enum class Kind : std::uint8_t {
        data,              // pointer to component 0 of element 0
        component_stride,  // in scalars; i32, or i64 if the parameter's form is wide
        element_stride,    // the same
        terms,             // of gathered parameters: real[row][scratch_items], see first_term
        reduced,           // of Reduce parameters: double[Plan::totals + component][items]
        fixed,             // Fixed (see prelude): the sums of a parameter in fixed point
        count,             // elements of such a parameter
        fault,             // Fault (see prelude)
        items              // i32
    };
    Kind kind = Kind::data;
    int parameter = -1;  // data, strides, fixed and count
    std::string type;    // in C++
};

struct KernelText {
    std::string name;  // of the function
    std::string text;
    std::vector<Argument> arguments;
    // The first row of each gathered parameter's terms (-1: none): those of row r of the plan,
    // component c are row first + c * rows + r, each scratch_items(items) long.
    std::vector<int> first_term;
    int term_rows = 0;
};

// A name as an identifier: what is not a letter or digit becomes '_'.
std::string identifier(const std::string& name);
// `name`: an identifier.
KernelText emit(const Plan& plan, const std::string& name, bool any_order = false);

// The first lines of every function.
inline constexpr std::string_view item_per_thread =
    "    const int item = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (item >= items) return;\n";

// The same function, called `name` + stride_suffix, whose threads stride over the items: in any
// number of blocks.
constexpr const char* stride_suffix = "_strided";
std::string with_stride(const std::string& name, const std::string& text);

// The ways to sum parameters with sites at dynamic indices.
enum class Sums : std::uint8_t {
    fixed,     // in fixed point
    measured,  // not: no effect but noting what the scales of those sums depend on
    any_order  // by atomic additions of floating-point numbers, in the order in which they come
};
// A plan for one lane, with C-contiguous arrays or the form that is given.
Plan plan_for(const ir::Kernel& kernel);
// `checked`: an index out of range is a fault, unless it is the item itself.
Plan plan_for(const ir::Kernel& kernel, const Form& form, Sums sums = Sums::fixed,
              bool checked = false);

}  // namespace hindcast::backend::cuda
