// The evaluation of each op on one set of operands: the evaluate column of the op table (ops.hpp
// states the results that C++ leaves open). The interpreter and constant folding use it; the
// compiled back ends are tested against it.
//
// Values travel as 64 raw bits: f32 and 32-bit integers in the low half, the high half zero;
// booleans are 0 or 1.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/ir/ops.hpp"
#include "engine/ir/type.hpp"

namespace hindcast::ir {

using Bits = std::uint64_t;

template <class T>
T from_bits(Bits bits) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<double>(bits);
    else if constexpr (std::same_as<T, bool>)
        return bits != 0;
    else
        return static_cast<T>(bits);
}
template <class T>
Bits to_bits(T value) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<std::uint64_t>(value);
    else if constexpr (sizeof(T) == 4)
        return static_cast<std::uint32_t>(value);
    else
        return static_cast<Bits>(value);
}

namespace evaluate {

template <class T>
inline constexpr bool real = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool whole = std::is_integral_v<T> && !std::same_as<T, bool>;
// Arithmetic modulo 2^width, without the undefined overflow of signed C++ integers.
template <class T>
using Unsigned = std::make_unsigned_t<std::conditional_t<whole<T>, T, int>>;

// NOLINTBEGIN(bugprone-macro-parentheses): an operator takes none
#define HINDCAST_WRAP(name, symbol)                                                                \
    template <class T>                                                                             \
    T name(T a, T b) {                                                                             \
        if constexpr (whole<T>)                                                                    \
            return static_cast<T>(static_cast<Unsigned<T>>(a) symbol static_cast<Unsigned<T>>(b)); \
        else                                                                                       \
            return static_cast<T>(a symbol b);                                                     \
    }
HINDCAST_WRAP(add, +)
HINDCAST_WRAP(sub, -)
HINDCAST_WRAP(mul, *)
// NOLINTEND(bugprone-macro-parentheses)
#undef HINDCAST_WRAP

template <class T>
T fma(T a, T b, T c) {
    if constexpr (real<T>)
        return std::fma(a, b, c);
    else
        return add<T>(mul<T>(a, b), c);
}
template <class T>
T neg(T a) {
    if constexpr (whole<T>)
        return sub<T>(0, a);
    else
        return static_cast<T>(-a);
}
template <class T>
T abs(T a) {
    if constexpr (real<T>)
        return std::fabs(a);
    else
        return a < T{} ? neg<T>(a) : a;
}
template <class T>
T div(T a, T b) {
    if constexpr (real<T>)
        return a / b;
    else {
        if (b == T{}) return T{};
        if constexpr (std::is_signed_v<T>) {
            if (b == T(-1)) return neg<T>(a);
        }
        return static_cast<T>(a / b);
    }
}
template <class T>
T rem(T a, T b) {
    if (b == T{}) return T{};
    if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return T{};
    }
    return static_cast<T>(a % b);
}
template <class T>
T bit_and(T a, T b) {
    return static_cast<T>(a & b);
}
template <class T>
T bit_or(T a, T b) {
    return static_cast<T>(a | b);
}
template <class T>
T bit_xor(T a, T b) {
    return static_cast<T>(a ^ b);
}
template <class T>
T shift_left(T a, T b) {
    const auto amount = static_cast<Unsigned<T>>(b);
    if (amount >= sizeof(T) * 8) return T{};
    return static_cast<T>(static_cast<Unsigned<T>>(a) << amount);
}
template <class T>
T shift_right(T a, T b) {
    const auto amount = static_cast<Unsigned<T>>(b);
    if (amount >= sizeof(T) * 8) return a < T{} ? T(-1) : T{};
    return static_cast<T>(a >> amount);
}
template <class T>
T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
T max(T a, T b) {
    return a < b ? b : a;
}
template <class T>
T mulz(T a, T b) {
    return a == T{} || b == T{} ? T{} : a * b;
}
template <class T>
T mulg(T a, T b) {
    return a == T{} ? T{} : a * b;
}
template <class T>
T divz(T a, T b) {
    return a == T{} ? T{} : a / b;
}
template <class T>
T norm2(T a, T b) {
    return std::sqrt(std::fma(b, b, a * a));
}
template <class T>
T norm3(T a, T b, T c) {
    return std::sqrt(std::fma(c, c, std::fma(b, b, a * a)));
}
template <class T>
T sqrt(T a) {
    return std::sqrt(a);
}
template <class T>
T floor(T a) {
    return std::floor(a);
}
template <class T>
T ceil(T a) {
    return std::ceil(a);
}
template <class T>
T trunc(T a) {
    return std::trunc(a);
}
template <class T>
T round(T a) {
    return std::nearbyint(a);
}
template <class T>
bool lt(T a, T b) {
    return a < b;
}
template <class T>
bool le(T a, T b) {
    return a <= b;
}
template <class T>
bool eq(T a, T b) {
    return a == b;
}

template <class To, class From>
To convert(From a) {
    if constexpr (whole<To> && real<From>) {
        if (std::isnan(a)) return To{};
        constexpr To lowest = std::numeric_limits<To>::min(),
                     highest = std::numeric_limits<To>::max();
        // highest + 1 is a power of two, hence exact in either real type
        constexpr To half_limit = highest / 2 + 1;
        const From limit = static_cast<From>(2) * static_cast<From>(half_limit);
        if (a >= limit) return highest;
        if (a <= static_cast<From>(lowest)) return lowest;
        return static_cast<To>(a);
    } else if constexpr (std::same_as<To, bool>) {
        return a != From{};
    } else {
        return static_cast<To>(a);
    }
}

}  // namespace evaluate

// The initial bits of a local array's elements: for reals -0, since -0 + x is x.
constexpr Bits local_start(Type type) {
    return type == Type::f64 ? 0x8000000000000000u : type == Type::f32 ? 0x80000000u : 0u;
}

// Evaluates a pure op that is not elementary. `type` is the result's, `operand_type` that of
// operand 0.
Bits evaluate_op(OpCode code, Type type, Type operand_type, Bits a, Bits b, Bits c);
// The function that evaluates all ops of this code and these types; operands that the op does not
// have are ignored.
using Evaluator = Bits (*)(Bits a, Bits b, Bits c);
Evaluator evaluator_of(OpCode code, Type type, Type operand_type);
// False for elementary functions (expanded by the lowering), memory, effects and structure.
bool can_evaluate(OpCode code);

}  // namespace hindcast::ir
