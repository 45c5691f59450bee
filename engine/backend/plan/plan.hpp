// Plan: the CPU back end's decisions about a kernel before it writes code.
//
// Code is specialized on the form of the parameters (their layout, not their address), so a kernel
// may be compiled more than once. Accumulation needs no floating-point atomics; each accumulated
// parameter goes one of these ways, all with the bits of the definition in executable.hpp:
//   own       every site adds to the item's own element: read, add, write, in vectors
//   gathered  every site stands outside loops and its index is static (a function of the item and
//             integer inputs): contributions go to scratch memory, then each target adds up its own
//   fixed     anything else: integers in fixed point, exact in any order (fixed_point.hpp,
//             fixed_sums.hpp)
//   atomic    integers: exact in any order
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/backend/pass_set.hpp"
#include "engine/backend/plan/fixed_point.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast::backend {

struct Binding;
struct CompileOptions;

// The widest vectors; a vector's first item is a multiple of its width.
inline constexpr int most_lanes = 16;

enum class Layout : std::uint8_t {
    strided,   // strides are read at run time
    planes,    // element stride 1: each component is a contiguous array
    elements,  // C-contiguous elements: element stride = components, component stride 1
    shared,    // element stride 0: every index reads the one element
    table      // like planes; padded: a whole vector may be read at any lane (see target_loop.hpp)
};
struct ParameterForm {
    Layout layout = Layout::elements;
    bool wide = false;          // offsets may exceed 32 bits
    bool far = false;           // in no near cache: fetched early
    bool padded = false;        // Binding::padded, where it matters: three components, side by side
    std::int32_t same_as = -1;  // accumulated: the first parameter bound to the same buffer
    bool operator==(const ParameterForm&) const = default;
};
using Form = std::vector<ParameterForm>;
Form form_of(const ir::Kernel& kernel, const Binding* bindings);
Form usual_form(const ir::Kernel& kernel);  // every array C-contiguous

bool accumulates(const ir::Parameter& p);  // or defines, as a sum
// The constant in an index of the form item + constant.
std::optional<std::int64_t> offset_from_item(const ir::Kernel& kernel, ir::Value index);
enum class Summation : std::uint8_t { own, gathered, fixed, atomic };

// One contribution per item to one element of a gathered parameter.
struct Row {
    ir::Value index = ir::no_value;
    std::vector<ir::Value> sites;  // per component: the accumulate op, or no_value
};

// Scratch memory holds groups of up to four components, each padded to 1, 2 or 4.
constexpr int group_count(int components) { return (components + 3) / 4; }
constexpr int group_size(int components, int group) {
    return components - 4 * group < 4 ? components - 4 * group : 4;
}
constexpr int padded(int size) { return size == 3 ? 4 : size; }

// The fixed-point sites of one parameter in one region; they are emitted where the last one stands.
struct FixedGroup {
    int symbol = -1;
    ir::Value last = ir::no_value;
    std::vector<Row> rows;
};
// Input of a plan besides the lowered kernel.
struct FixedPlan {
    std::vector<FixedPoint> parameters;  // fixed_point_parameters of the kernel as traced
    bool measure = false;                // only find what the scales depend on: no effect but that
};

struct Plan {
    ir::Kernel kernel;  // lowered; accumulations into one buffer have one symbol
    Form form;
    bool checked = false;
    PassSet passes;
    int width = 1;
    bool measure = false;                // see FixedPlan
    std::vector<int> changed;            // parameters that a second run would find changed
    std::vector<Summation> summation;    // per parameter
    std::vector<std::vector<Row>> rows;  // per gathered parameter
    std::vector<FixedPoint> fixed;       // per parameter
    std::vector<FixedGroup> fixed_groups;
    std::vector<int> fixed_symbols;           // the parameters summed in fixed point
    std::vector<char> varies;                 // per value: depends on the work item
    std::vector<std::uint64_t> local_offset;  // per local op: bytes from the start of the arena
    std::uint64_t arena_bytes = 0;
    std::vector<int> totals;  // per reduce parameter: position of its first component
    int total_count = 0;
    // One scratch array per group and row; that of a parameter is scratch + group * rows + row.
    std::vector<int> scratch;
    std::vector<std::size_t> scratch_offset;  // bytes per item in all arrays before; and their sum
    double work = 0;                          // estimated ops per item

    // True if another accumulated parameter is bound to the same buffer.
    bool shares_buffer(int symbol) const;
    // A launch over so many items leaves the elements of a Sum undefined or unchanged from here to
    // their end, unless they are cleared before it.
    std::int64_t first_to_clear(int symbol, std::int64_t items, std::int64_t elements) const;
};

Plan make_plan(const ir::Kernel& lowered, const Form& form, const CompileOptions& options,
               const FixedPlan& fixed = {});

// Lanes for a kernel of this precision on this processor.
int natural_width(ir::Precision precision);
// Lanes for a launch: `width` if it is not 0, else the natural one, or less where the items do not
// fill it (masked lanes cost like others).
int lanes_for(ir::Precision precision, int width, std::int64_t items);

}  // namespace hindcast::backend
