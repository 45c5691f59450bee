// Builder: contraction and exact folding.
//
// Contraction is part of the language's meaning: a product that is directly an operand of + or - is
// fused when the expression is recorded (`contract`), by definition of the operand, never by
// counting uses and never on cloned ops. Folding changes no bit: no x*0 -> 0 (infinities), no x+0
// -> x (the sign of zero), but x + (-0), x - 0, x*1, x/1.
#include <bit>

#include "engine/ir/builder.hpp"
#include "engine/ir/evaluate.hpp"

namespace hindcast::ir {

Value Builder::contracted(OpCode code, Type type, Value a, Value b) {
    if (!contract || !is_real(type)) return no_value;
    const auto product = [&](Value v) { return op(v).code == OpCode::mul; };
    const auto x = [&](Value v) { return op(v).operand[0]; };
    const auto y = [&](Value v) { return op(v).operand[1]; };
    if (code == OpCode::add) {
        if (product(a)) return emit(OpCode::fma, type, x(a), y(a), b);
        if (product(b)) return emit(OpCode::fma, type, x(b), y(b), a);
    } else if (code == OpCode::sub) {
        if (product(a)) return emit(OpCode::fma, type, x(a), y(a), emit(OpCode::neg, type, b));
        if (product(b)) return emit(OpCode::fma, type, emit(OpCode::neg, type, x(b)), y(b), a);
    }
    return no_value;
}

Value Builder::fold(OpCode code, Type type, Value a, Value b, Value c) {
    if (code == OpCode::variable) return no_value;
    if (can_evaluate(code) && code != OpCode::attach_slope && is_constant(a) &&
        (b < 0 || is_constant(b)) && (c < 0 || is_constant(c))) {
        const auto bits = [&](Value v) { return v < 0 ? 0 : op(v).bits; };
        return constant(type, evaluate_op(code, type, type_of(a), bits(a), bits(b), bits(c)));
    }
    if (code == OpCode::select) {
        if (is_integer_constant(a, 1)) return b;
        if (is_integer_constant(a, 0)) return c;
        if (b == c) return b;
        return no_value;
    }
    if (code == OpCode::convert && type == type_of(a)) return a;
    if (is_real(type)) {
        switch (code) {
            case OpCode::mul:
                if (is_real_constant(a, 1)) return b;
                if (is_real_constant(b, 1)) return a;
                if (is_real_constant(a, -1)) return emit(OpCode::neg, type, b);
                if (is_real_constant(b, -1)) return emit(OpCode::neg, type, a);
                break;
            case OpCode::add:
                if (is_real_constant(a, -0.0)) return b;
                if (is_real_constant(b, -0.0)) return a;
                break;
            case OpCode::sub:
                if (is_real_constant(b, 0.0)) return a;
                break;
            case OpCode::div:
                if (is_real_constant(b, 1)) return a;
                break;
            case OpCode::neg:
                if (op(a).code == OpCode::neg) return op(a).operand[0];
                break;
            default: break;
        }
        return no_value;
    }
    if (type == Type::boolean) {
        if (info(code).op_class == OpClass::comparison) {
            if (a == b && !is_real(type_of(a))) return boolean(code != OpCode::lt);
            return no_value;
        }
        switch (code) {
            case OpCode::bit_and:
                if (is_integer_constant(a, 1) || a == b) return b;
                if (is_integer_constant(b, 1)) return a;
                if (is_integer_constant(a, 0) || is_integer_constant(b, 0)) return boolean(false);
                break;
            case OpCode::bit_or:
                if (is_integer_constant(a, 0) || a == b) return b;
                if (is_integer_constant(b, 0)) return a;
                if (is_integer_constant(a, 1) || is_integer_constant(b, 1)) return boolean(true);
                break;
            case OpCode::logical_not:
                if (op(a).code == OpCode::logical_not) return op(a).operand[0];
                break;
            default: break;
        }
        return no_value;
    }
    switch (code) {  // integers
        case OpCode::add:
            if (is_integer_constant(a, 0)) return b;
            if (is_integer_constant(b, 0)) return a;
            // (x + c1) + c2 = x + (c1 + c2) modulo 2^width
            if (is_constant(b) && op(a).code == OpCode::add)
                for (const int k : {0, 1})
                    if (is_constant(op(a).operand[k]))
                        return emit(code, type, op(a).operand[1 - k],
                                    emit(code, type, op(a).operand[k], b));
            break;
        case OpCode::sub:
            if (is_integer_constant(b, 0)) return a;
            if (a == b) return integer(0, type);
            if (op(b).code == OpCode::sub && op(b).operand[0] == a) return op(b).operand[1];
            break;
        case OpCode::mul:
            if (is_integer_constant(a, 1)) return b;
            if (is_integer_constant(b, 1)) return a;
            if (is_integer_constant(a, 0) || is_integer_constant(b, 0)) return integer(0, type);
            break;
        case OpCode::div:
            if (is_integer_constant(b, 1)) return a;
            [[fallthrough]];
        case OpCode::rem:
            // Items are not negative: divided by a power of two, the remainder of one is its last
            // bits, the quotient the others.
            if (op(a).code == OpCode::item && is_constant(b))
                if (const std::int64_t n = integer_of(op(b).bits, type);
                    n > 0 && (n & (n - 1)) == 0)
                    return code == OpCode::rem
                               ? emit(OpCode::bit_and, type, a, integer(n - 1, type))
                               : emit(OpCode::shift_right, type, a,
                                      integer(std::countr_zero(static_cast<std::uint64_t>(n)),
                                              type));
            break;
        case OpCode::min:
        case OpCode::max:
            if (a == b) return a;
            break;
        default: break;
    }
    return no_value;
}

void Builder::check_types(OpCode code, Type type, Value a, Value b, Value c) const {
    const OpInfo& row = info(code);
    const auto fail = [&](const std::string& why) {
        throw error("internal: op " + std::string(row.name) + " " + why);
    };
    const Value operand[3] = {a, b, c};
    for (int k = 0; k < 3; ++k) {
        if ((k < row.operands) != (operand[k] != no_value))
            fail("got the wrong number of operands");
        if (k >= row.operands) break;
        if (operand[k] < 0 || operand[k] >= static_cast<Value>(kernel_.ops.size()))
            fail("got an unknown operand");
        const Type found = type_of(operand[k]);
        switch (row.op_class) {
            case OpClass::arithmetic:
            case OpClass::elementary:
                if (found != type)
                    fail(std::string("mixes ") + name_of(found) + " and " + name_of(type));
                break;
            case OpClass::comparison:
                if (found != type_of(a)) fail("compares different types");
                break;
            case OpClass::selection:
                if (found != (k == 0 ? Type::boolean : type))
                    fail("selects between different types");
                break;
            case OpClass::conversion: break;
            default: fail("is not pure");
        }
    }
}

}  // namespace hindcast::ir
