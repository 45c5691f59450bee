// Dispatch from op codes and types to the functions of evaluate.hpp.
#include "engine/ir/evaluate.hpp"

#include "engine/base/error.hpp"

namespace hindcast::ir {

namespace {

// Calls f.template operator()<T>() with the C++ type of `type`.
template <class F>
Bits with_type(Type type, F f) {
    switch (type) {
        case Type::boolean: return f.template operator()<bool>();
        case Type::i32: return f.template operator()<std::int32_t>();
        case Type::u32: return f.template operator()<std::uint32_t>();
        case Type::i64: return f.template operator()<std::int64_t>();
        case Type::u64: return f.template operator()<std::uint64_t>();
        case Type::f32: return f.template operator()<float>();
        case Type::f64: return f.template operator()<double>();
        case Type::none: break;
    }
    throw Error("internal: an op without a type was evaluated");
}

[[noreturn]] void no_such_op(OpCode code, Type type) {
    throw Error(std::string("internal: op ") + info(code).name + " cannot be evaluated on " +
                name_of(type));
}

template <class T>
Bits arithmetic(OpCode code, T a, T b, T c) {
    namespace e = evaluate;
    constexpr bool real = e::real<T>, whole = e::whole<T>, boolean = std::same_as<T, bool>;
    switch (code) {
        case OpCode::lt: return e::lt(a, b);
        case OpCode::le: return e::le(a, b);
        case OpCode::eq: return e::eq(a, b);
        case OpCode::variable:
        case OpCode::attach_slope:
        case OpCode::stop_gradient: return to_bits(a);
        default: break;
    }
    if constexpr (!real) {
        switch (code) {
            case OpCode::bit_and: return to_bits(e::bit_and(a, b));
            case OpCode::bit_or: return to_bits(e::bit_or(a, b));
            case OpCode::bit_xor: return to_bits(e::bit_xor(a, b));
            default: break;
        }
    }
    if constexpr (boolean) {
        if (code == OpCode::logical_not) return !a;
    } else {
        switch (code) {
            case OpCode::add: return to_bits(e::add(a, b));
            case OpCode::sub: return to_bits(e::sub(a, b));
            case OpCode::mul: return to_bits(e::mul(a, b));
            case OpCode::neg: return to_bits(e::neg(a));
            case OpCode::abs: return to_bits(e::abs(a));
            case OpCode::div: return to_bits(e::div(a, b));
            case OpCode::min: return to_bits(e::min(a, b));
            case OpCode::max: return to_bits(e::max(a, b));
            default: break;
        }
    }
    if constexpr (whole) {
        switch (code) {
            case OpCode::rem: return to_bits(e::rem(a, b));
            case OpCode::shift_left: return to_bits(e::shift_left(a, b));
            case OpCode::shift_right: return to_bits(e::shift_right(a, b));
            default: break;
        }
    }
    if constexpr (real) {
        switch (code) {
            case OpCode::fma: return to_bits(e::fma(a, b, c));
            case OpCode::sqrt: return to_bits(e::sqrt(a));
            case OpCode::floor: return to_bits(e::floor(a));
            case OpCode::ceil: return to_bits(e::ceil(a));
            case OpCode::trunc: return to_bits(e::trunc(a));
            case OpCode::round: return to_bits(e::round(a));
            case OpCode::mulz: return to_bits(e::mulz(a, b));
            case OpCode::mulg: return to_bits(e::mulg(a, b));
            case OpCode::divz: return to_bits(e::divz(a, b));
            case OpCode::norm2: return to_bits(e::norm2(a, b));
            case OpCode::norm3: return to_bits(e::norm3(a, b, c));
            default: break;
        }
    }
    no_such_op(code, std::same_as<T, bool> ? Type::boolean : Type::none);
}

}  // namespace

bool can_evaluate(OpCode code) {
    return is_pure(code) && info(code).op_class != OpClass::elementary;
}

Bits evaluate_op(OpCode code, Type type, Type operand_type, Bits a, Bits b, Bits c) {
    if (code == OpCode::select) return a ? b : c;
    if (code == OpCode::bitcast) return a;
    if (code == OpCode::convert) {
        return with_type(operand_type, [&]<class From>() {
            return with_type(type, [&]<class To>() {
                return to_bits(evaluate::convert<To, From>(from_bits<From>(a)));
            });
        });
    }
    if (!can_evaluate(code)) no_such_op(code, type);
    return with_type(operand_type, [&]<class T>() {
        return arithmetic<T>(code, from_bits<T>(a), from_bits<T>(b), from_bits<T>(c));
    });
}

}  // namespace hindcast::ir
