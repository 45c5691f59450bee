// A kernel: a scalar SSA program over one work item, in structured regions. One IR from tracing to
// emission.
//
// Region 0 is the body. `if_`, `for_` and `while_` own further regions; a region has arguments
// (loops only), a list of ops, and yields. Outside values that a region changes become results of
// the op that owns it:
//
//     r... = if_ c { ... yield a... } { ... yield b... }
//         r = a where c holds, else b
//     r... = for_ n (init...) { (t, arg...) ... yield y... }
//         t = 0 .. n-1; arg = init, then the y of the trip before; r = the last y
//     r... = while_ (init...) { (arg...) ... break_unless c ... yield y... }
//         arg = init, then the y of the trip before; r = arg when c first fails
//
// A while_ executes the ops before break_unless once more than those after it. Constants, the work
// item and parameters are leaves: they stand in no region's list. Everything else is listed in
// exactly one region, in an order that respects uses, and may be used there and in the regions
// inside. Ops never refer to C++ memory: a kernel is a value.
//
// Memory model (it makes recomputation legal and noalias sound): a buffer that is written is read
// only through own_load, at top level, at the item's own index; loads therefore see an unchanging
// buffer and are pure. Exclusive buffers are the exception: fetch and put are executed in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/ir/ops.hpp"
#include "engine/ir/type.hpp"

namespace hindcast::ir {

using Value = std::int32_t;  // index into Kernel::ops
inline constexpr Value no_value = -1;

// A kernel's access to one of its parameters. The dual (adjoint) access stands behind the arrow.
enum class Access : std::uint8_t {
    read,        // load at any index                                    -> accumulate
    write,       // own element, stored on every path                    -> read_write
    read_write,  // own element                                          -> read_write
    accumulate,  // += at any index, never read                          -> read
    sum,  // accumulate that first clears the whole array         -> read, cleared after the launch
    slice,      // store_once / take at indices this item owns          -> slice
    exclusive,  // fetch / put at indices that no other item reaches, any number of times, in the
                // order executed; no derivative but a given one
    reduce,     // += into one f64 scalar per component, fixed tree     -> value
    atomic,     // integers: add, min, max
    value       // launch parameter by value, or bound to a device scalar -> reduce
};
const char* name_of(Access access);

struct Parameter {
    std::string name;
    Access access = Access::read;
    Type type =
        Type::none;      // of one component; a reduce target is f64 in memory whatever this says
    int components = 1;  // Vec3: 3, Mat3: 9 (row by row)
    int rows = 1;        // of a matrix; 1 for scalars and vectors
    // In the adjoint of a host function: what the function left there, not what it found.
    bool holds_result = false;
};

struct Op {
    OpCode code = OpCode::constant;
    Type type = Type::none;  // of the result; of the element for memory and effects
    Value operand[3] = {no_value, no_value, no_value};
    std::int32_t symbol =
        -1;  // parameter index; position among the owner's results, arguments (see Nest)
    std::int32_t component = 0;  // of the parameter's element
    std::uint64_t bits = 0;  // constant: the value's bits; local: capacity in elements, 0 = unknown
    std::int32_t region = 0;  // that lists it (leaves: 0)
    std::int32_t nest = -1;   // if_, for_, while_: index into Kernel::nests
    std::int32_t place = -1;  // index into Kernel::places
    std::int32_t name = -1;   // index into Kernel::names, from .name("...")
};

// The parts of an op with regions, besides its operands.
struct Nest {
    std::int32_t region[2] = {-1, -1};  // if_: then, otherwise; loops: the body
    std::vector<Value> inits;           // loops: first values of the carried arguments
    std::vector<Value> results;
    std::int64_t max_trips = 0;  // loops: exceeding it raises; 0 = no limit (for_ only)
    // The author's message for exceeding it: "what has happened; remedy". Empty: in general terms.
    std::string too_many;
    // The error's text and remedy.
    std::pair<std::string, std::string> over_limit() const;
};

// The two parts of "what has happened; remedy".
std::pair<std::string, std::string> error_and_remedy(const std::string& text);

struct Region {
    std::vector<Value> arguments;  // for_: the trip number first, then the carried values
    std::vector<Value> ops;
    std::vector<Value> yields;
    Value owner = no_value;
};

struct Kernel {
    std::string name;
    std::vector<Parameter> parameters;
    std::vector<Op> ops;
    std::vector<Region> regions;
    std::vector<Nest> nests;
    std::vector<SourcePlace> places;
    std::vector<std::string> names;
    Precision precision = Precision::f64;
    int adjoint_order =
        0;  // how often adjoint() and tangent() have been applied: the next derived names
    int tangent_order = 0;
    // No body: the work is a function of the host (runtime/launch/host_function.hpp). Every
    // parameter counts as used in every way that its access allows.
    bool is_host_function = false;

    const Op& op(Value value) const { return ops[static_cast<std::size_t>(value)]; }
    Op& op(Value value) { return ops[static_cast<std::size_t>(value)]; }
    const Nest& nest(const Op& of) const { return nests[static_cast<std::size_t>(of.nest)]; }
    Nest& nest(const Op& of) { return nests[static_cast<std::size_t>(of.nest)]; }
    Region& region(int r) { return regions[static_cast<std::size_t>(r)]; }
    const Region& region(int r) const { return regions[static_cast<std::size_t>(r)]; }
    Parameter& parameter(int p) { return parameters[static_cast<std::size_t>(p)]; }
    const Parameter& parameter(int p) const { return parameters[static_cast<std::size_t>(p)]; }
    // The source place of an op, or an unknown place.
    SourcePlace place_of(Value value) const;
    // True if it has exclusive buffers: then its work can be done once only.
    bool has_exclusive() const;
    // The error of a raise op, and its remedy.
    std::pair<std::string, std::string> raised(const Op& of, std::int64_t number) const;
    // -1 if there is none.
    int find_parameter(const std::string& parameter_name) const;
};

// Real constants and their bits.
std::uint64_t bits_of(double number, Type type);  // f32: rounded once
double real_of(std::uint64_t bits, Type type);
std::int64_t integer_of(std::uint64_t bits, Type type);  // sign- or zero-extended

// Number of ops listed in all regions; of one code if given.
int count_ops(const Kernel& kernel);
int count_ops(const Kernel& kernel, OpCode code);

// Readable text, one op per line.
std::string print(const Kernel& kernel);

// Checks every rule stated above; throws Error with the printed kernel. `stage` says after what.
void verify(const Kernel& kernel, const char* stage);

}  // namespace hindcast::ir
