// Dispatch from op codes and types to the functions of evaluate.hpp.
#include "engine/ir/evaluate.hpp"

#include <array>
#include <tuple>
#include <utility>

#include "engine/base/error.hpp"

namespace hindcast::ir {

namespace {

// In the order of Type, without `none`.
using Types =
    std::tuple<bool, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
constexpr int type_count = std::tuple_size_v<Types>;
template <int K>
using TypeAt = std::tuple_element_t<static_cast<std::size_t>(K), Types>;

std::size_t place_of(Type type) {
    if (type == Type::none) throw Error("internal: an op without a type was evaluated");
    return static_cast<std::size_t>(type) - 1;
}

[[noreturn]] void no_such_op(OpCode code, Type type) {
    throw Error(std::string("internal: op ") + info(code).name + " cannot be evaluated on " +
                name_of(type));
}

// The result of one op. If the compiler knows the code, one line of the switch is left.
template <class T>
[[gnu::always_inline]] inline Bits arithmetic(OpCode code, T a, T b, T c) {
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

template <OpCode code, class T>
Bits evaluated(Bits a, Bits b, Bits c) {
    return arithmetic<T>(code, from_bits<T>(a), from_bits<T>(b), from_bits<T>(c));
}
template <class To, class From>
Bits converted(Bits a, Bits, Bits) {
    return to_bits(evaluate::convert<To, From>(from_bits<From>(a)));
}
Bits selected(Bits a, Bits b, Bits c) { return a ? b : c; }
Bits same_bits(Bits a, Bits, Bits) { return a; }

// [code][type of the operands], [type of the result][of the operand].
template <int... Codes>
constexpr auto arithmetic_table(std::integer_sequence<int, Codes...>) {
    const auto row = []<int Code, int... Ts>(std::integral_constant<int, Code>,
                                             std::integer_sequence<int, Ts...>) {
        return std::array<Evaluator, type_count>{
            evaluated<static_cast<OpCode>(Code), TypeAt<Ts>>...};
    };
    constexpr auto types = std::make_integer_sequence<int, type_count>();
    return std::array{row(std::integral_constant<int, Codes>(), types)...};
}
template <int... Rows>
constexpr auto conversion_table(std::integer_sequence<int, Rows...>) {
    const auto row = []<int To, int... From>(std::integral_constant<int, To>,
                                             std::integer_sequence<int, From...>) {
        return std::array<Evaluator, type_count>{converted<TypeAt<To>, TypeAt<From>>...};
    };
    constexpr auto types = std::make_integer_sequence<int, type_count>();
    return std::array{row(std::integral_constant<int, Rows>(), types)...};
}

}  // namespace

bool can_evaluate(OpCode code) {
    return is_pure(code) && info(code).op_class != OpClass::elementary;
}

Evaluator evaluator_of(OpCode code, Type type, Type operand_type) {
    static constexpr auto arithmetic =
        arithmetic_table(std::make_integer_sequence<int, op_count>());
    static constexpr auto conversion =
        conversion_table(std::make_integer_sequence<int, type_count>());
    if (code == OpCode::select) return selected;
    if (code == OpCode::bitcast) return same_bits;
    const std::size_t from = place_of(operand_type);
    if (code == OpCode::convert) return conversion[place_of(type)][from];
    if (!can_evaluate(code)) no_such_op(code, type);
    return arithmetic[static_cast<std::size_t>(code)][from];
}

Bits evaluate_op(OpCode code, Type type, Type operand_type, Bits a, Bits b, Bits c) {
    return evaluator_of(code, type, operand_type)(a, b, c);
}

}  // namespace hindcast::ir
