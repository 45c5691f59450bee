// The op table: every op of the kernel language is one row of HINDCAST_OPS.
//
//   HINDCAST_OP(name, operands, class, LLVM text for reals, LLVM text for integers, CUDA text)
//
// Two more columns stand where their code stands and are found by the op's name:
//   evaluate.hpp       what the op computes: used for constant folding and by the interpreter
//   ../ad/rules.cpp    its derivative: contribution(operand, seed), linear in the seed, serves
//                      forward and reverse mode
// Two tests walk over the table and fail for a row without either (tests/unit/ir/test_evaluate.cpp,
// tests/gradient/test_rules.cpp). In LLVM texts T is the (vector) type and 0 1 2 are the operands.
// An op with an empty LLVM text is expanded into other ops by the lowering (../lang/lowering.hpp)
// before a back end sees it, or each back end handles it itself (classes memory, effect and
// structure).
//
// Results that C++ leaves open are defined here, the same on every back end:
//   integer add, sub, mul, neg   wrap around
//   div, rem                     truncate toward zero; x/0 = 0, x%0 = 0;
//                                INT_MIN/-1 = INT_MIN, INT_MIN%-1 = 0
//   shift_left, shift_right      by the width or more (the amount read as unsigned): 0, or the
//                                sign for a signed right shift
//   convert real -> integer      truncates and saturates; NaN gives 0
//   convert integer -> real      rounds to nearest even
//   min(a,b) = b<a ? b : a       NaN in b is dropped, NaN in a is kept; of two equal values (also
//   max(a,b) = a<b ? b : a       -0 and 0) the first is returned
//   lt, le, eq                   false when an operand is NaN
//   mulz(a,b)                    0 if a or b is 0 (even against infinity or NaN), else a*b
//   mulg(a,b)                    0 if a, the gate, is 0 (even against infinity or NaN), else a*b
//   divz(a,b)                    0 if a is 0 (even over 0), else a/b
//   norm2, norm3                 sqrt(b*b + a*a), sqrt(c*c + (b*b + a*a)), each sum one fused
//                                multiply-add
//   round                        to nearest, ties to even
#pragma once

#include <cstdint>

namespace hindcast::ir {

enum class OpClass : std::uint8_t {
    leaf,        // constants, the work item, launch parameters: stand outside all regions
    arithmetic,  // pure; operands and result have one type
    comparison,  // pure; operands of one type, result boolean
    conversion,  // pure; one operand of any type, result of another
    selection,   // pure; boolean, then two values of the result's type
    elementary,  // pure, reals only, expanded into arithmetic late
    memory,      // reads or declares memory
    effect,      // changes memory, never removed by consing
    structure    // regions and the values they define
};

// clang-format off
#define HINDCAST_OPS(HINDCAST_OP) \
    /* leaves */ \
    HINDCAST_OP(constant,   0, leaf, "", "", "") \
    HINDCAST_OP(item,       0, leaf, "", "", "") \
    HINDCAST_OP(parameter,  0, leaf, "", "", "") \
    /* arithmetic that every back end has */ \
    HINDCAST_OP(add,        2, arithmetic, "fadd T 0, 1", "add T 0, 1", "0 + 1") \
    HINDCAST_OP(sub,        2, arithmetic, "fsub T 0, 1", "sub T 0, 1", "0 - 1") \
    HINDCAST_OP(mul,        2, arithmetic, "fmul T 0, 1", "mul T 0, 1", "0 * 1") \
    HINDCAST_OP(fma,        3, arithmetic, "call T @llvm.fma(T 0, T 1, T 2)", "", "fma(0, 1, 2)") \
    HINDCAST_OP(neg,        1, arithmetic, "fneg T 0", "sub T zeroinitializer, 0", "-0") \
    HINDCAST_OP(sqrt,       1, arithmetic, "call T @llvm.sqrt(T 0)", "", "sqrt(0)") \
    HINDCAST_OP(abs,        1, arithmetic, "call T @llvm.fabs(T 0)", "", "fabs(0)") \
    HINDCAST_OP(floor,      1, arithmetic, "call T @llvm.floor(T 0)", "", "floor(0)") \
    HINDCAST_OP(ceil,       1, arithmetic, "call T @llvm.ceil(T 0)", "", "ceil(0)") \
    HINDCAST_OP(trunc,      1, arithmetic, "call T @llvm.trunc(T 0)", "", "trunc(0)") \
    HINDCAST_OP(round,      1, arithmetic, "call T @llvm.roundeven(T 0)", "", "rint(0)") \
    HINDCAST_OP(bit_and,    2, arithmetic, "", "and T 0, 1", "0 & 1") \
    HINDCAST_OP(bit_or,     2, arithmetic, "", "or T 0, 1", "0 | 1") \
    HINDCAST_OP(bit_xor,    2, arithmetic, "", "xor T 0, 1", "0 ^ 1") \
    HINDCAST_OP(logical_not,1, arithmetic, "", "xor T 0, splat (i1 true)", "!0") \
    /* expanded into the ops above by the lowering, or with a guard by the back end */ \
    HINDCAST_OP(div,        2, arithmetic, "fdiv T 0, 1", "", "0 / 1") \
    HINDCAST_OP(rem,        2, arithmetic, "", "", "") \
    HINDCAST_OP(shift_left, 2, arithmetic, "", "", "") \
    HINDCAST_OP(shift_right,2, arithmetic, "", "", "") \
    HINDCAST_OP(min,        2, arithmetic, "", "", "") \
    HINDCAST_OP(max,        2, arithmetic, "", "", "") \
    HINDCAST_OP(mulz,       2, arithmetic, "", "", "") \
    HINDCAST_OP(mulg,       2, arithmetic, "", "", "") \
    HINDCAST_OP(divz,       2, arithmetic, "", "", "") \
    HINDCAST_OP(norm2,      2, arithmetic, "", "", "") \
    HINDCAST_OP(norm3,      3, arithmetic, "", "", "") \
    HINDCAST_OP(variable,   1, arithmetic, "", "", "") \
    HINDCAST_OP(stop_gradient, 1, arithmetic, "", "", "") /* the operand; derivative zero */ \
    HINDCAST_OP(attach_slope, 3, arithmetic, "", "", "") /* operand 0; d = d0 + operand 2 * d1: hand-made derivatives */ \
    /* comparison, selection, conversion */ \
    HINDCAST_OP(lt,         2, comparison, "fcmp olt T 0, 1", "icmp lt T 0, 1", "0 < 1") \
    HINDCAST_OP(le,         2, comparison, "fcmp ole T 0, 1", "icmp le T 0, 1", "0 <= 1") \
    HINDCAST_OP(eq,         2, comparison, "fcmp oeq T 0, 1", "icmp eq T 0, 1", "0 == 1") \
    HINDCAST_OP(select,     3, selection,  "", "", "0 ? 1 : 2") \
    HINDCAST_OP(convert,    1, conversion, "", "", "") \
    HINDCAST_OP(bitcast,    1, conversion, "", "", "") \
    /* elementary functions */ \
    HINDCAST_OP(sin,        1, elementary, "", "", "") \
    HINDCAST_OP(cos,        1, elementary, "", "", "") \
    HINDCAST_OP(tan,        1, elementary, "", "", "") \
    HINDCAST_OP(asin,       1, elementary, "", "", "") \
    HINDCAST_OP(acos,       1, elementary, "", "", "") \
    HINDCAST_OP(atan,       1, elementary, "", "", "") \
    HINDCAST_OP(atan2,      2, elementary, "", "", "") \
    HINDCAST_OP(sinh,       1, elementary, "", "", "") \
    HINDCAST_OP(cosh,       1, elementary, "", "", "") \
    HINDCAST_OP(tanh,       1, elementary, "", "", "") \
    HINDCAST_OP(exp,        1, elementary, "", "", "") \
    HINDCAST_OP(expm1,      1, elementary, "", "", "") \
    HINDCAST_OP(log,        1, elementary, "", "", "") \
    HINDCAST_OP(log1p,      1, elementary, "", "", "") \
    HINDCAST_OP(pow,        2, elementary, "", "", "") \
    HINDCAST_OP(cbrt,       1, elementary, "", "", "") \
    /* memory: operand 0 is an index (local: the number of elements; local_load: the array, the index). A local array */ \
    /* of reals starts with -0, so that a tape, which adds each value to an element, keeps the sign of a zero. */ \
    /* Loads of it are made in the order of what is put and added there. */ \
    HINDCAST_OP(load,       1, memory, "", "", "") \
    HINDCAST_OP(own_load,   1, memory, "", "", "") \
    HINDCAST_OP(local,      1, memory, "", "", "") \
    HINDCAST_OP(local_load, 2, memory, "", "", "") \
    HINDCAST_OP(take,       1, memory, "", "", "") /* reads a slice element and clears it: also an effect */ \
    HINDCAST_OP(fetch,      1, memory, "", "", "") /* of an exclusive buffer: what the last put left there */ \
    /* effects: index, value (reduce: value; local_accumulate, local_put: array, index, value; break_unless: condition; */ \
    /* raise: the number of what is to blame, such as the item; the text is the op's name) */ \
    HINDCAST_OP(accumulate, 2, effect, "", "", "") \
    HINDCAST_OP(own_store,  2, effect, "", "", "") \
    HINDCAST_OP(reduce,     1, effect, "", "", "") \
    HINDCAST_OP(store_once, 2, effect, "", "", "") \
    HINDCAST_OP(put,        2, effect, "", "", "") \
    HINDCAST_OP(local_accumulate, 3, effect, "", "", "") \
    HINDCAST_OP(local_put, 3, effect, "", "", "") /* no derivative */ \
    HINDCAST_OP(raise,      1, effect, "", "", "") /* ends the launch with an error */ \
    HINDCAST_OP(atomic_add, 2, effect, "", "", "") \
    HINDCAST_OP(atomic_min, 2, effect, "", "", "") \
    HINDCAST_OP(atomic_max, 2, effect, "", "", "") \
    HINDCAST_OP(break_unless, 1, effect, "", "", "") \
    /* structure */ \
    HINDCAST_OP(if_,        1, structure, "", "", "") \
    HINDCAST_OP(for_,       1, structure, "", "", "") \
    HINDCAST_OP(while_,     0, structure, "", "", "") \
    HINDCAST_OP(argument,   0, structure, "", "", "") \
    HINDCAST_OP(result,     0, structure, "", "", "")
// clang-format on

enum class OpCode : std::uint8_t {
#define HINDCAST_OP(name, operands, op_class, llvm_real, llvm_integer, cuda) name,
    HINDCAST_OPS(HINDCAST_OP)
#undef HINDCAST_OP
};

struct OpInfo {
    const char* name;
    int operands;
    OpClass op_class;
    const char* llvm_real;
    const char* llvm_integer;
    const char* cuda;
};

inline constexpr OpInfo op_table[] = {
#define HINDCAST_OP(name, operands, op_class, llvm_real, llvm_integer, cuda) \
    {#name, operands, OpClass::op_class, llvm_real, llvm_integer, cuda},
    HINDCAST_OPS(HINDCAST_OP)
#undef HINDCAST_OP
};
inline constexpr int op_count = static_cast<int>(sizeof(op_table) / sizeof(op_table[0]));

constexpr const OpInfo& info(OpCode code) { return op_table[static_cast<int>(code)]; }

// Pure ops are consed, folded where constant, and may be executed any number of times.
constexpr bool is_pure(OpCode code) {
    const OpClass c = info(code).op_class;
    return c == OpClass::arithmetic || c == OpClass::comparison || c == OpClass::conversion ||
           c == OpClass::selection || c == OpClass::elementary;
}
constexpr bool is_effect(OpCode code) {
    return info(code).op_class == OpClass::effect || code == OpCode::take;
}
// Ops that own regions.
constexpr bool has_regions(OpCode code) {
    return code == OpCode::if_ || code == OpCode::for_ || code == OpCode::while_;
}

}  // namespace hindcast::ir
