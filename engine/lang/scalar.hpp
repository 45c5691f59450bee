// Traced scalars: Float (the kernel's real type), Single (f32 in both precisions, to read and write
// arrays of another precision than the kernel's), Int, UInt, Long, ULong, Bool.
//
// A scalar is a mutable variable of the kernel: copying it makes a new variable, assigning rebinds
// it, also inside if_, for_ and while_. Literals convert implicitly where that is exact in meaning
// (int and double to Float, int to Int); conversions between traced types are explicit: Float(i),
// Int(x) (truncates), Long(i). There is no conversion to bool: write if_(c, ...) or select(c, a,
// b).
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "engine/lang/trace.hpp"

namespace hindcast::lang {

struct RealKind {
    static ir::Type type() { return current_real(); }
    template <class N>
    static constexpr bool takes = std::is_arithmetic_v<N> && !std::same_as<N, bool>;
    static ir::Value literal(auto number) {
        return builder().real_constant(static_cast<double>(number), type());
    }
};
template <ir::Type type_>
struct IntegerKind {
    static ir::Type type() { return type_; }
    template <class N>
    static constexpr bool takes = std::is_integral_v<N> && !std::same_as<N, bool>;
    static ir::Value literal(auto number) {
        return builder().integer(static_cast<std::int64_t>(number), type_);
    }
};
struct SingleKind {  // Float(s) and Single(x) convert; all arithmetic is that of Float
    static ir::Type type() { return ir::Type::f32; }
    template <class N>
    static constexpr bool takes = false;
    static ir::Value literal(auto number) {
        return builder().real_constant(static_cast<double>(number), type());
    }
};
struct BoolKind {
    static ir::Type type() { return ir::Type::boolean; }
    template <class N>
    static constexpr bool takes = std::same_as<N, bool>;
    static ir::Value literal(bool truth) { return builder().boolean(truth); }
};

template <class Kind>
class Scalar;
using Float = Scalar<RealKind>;
using Single = Scalar<SingleKind>;
using Int = Scalar<IntegerKind<ir::Type::i32>>;
using UInt = Scalar<IntegerKind<ir::Type::u32>>;
using Long = Scalar<IntegerKind<ir::Type::i64>>;
using ULong = Scalar<IntegerKind<ir::Type::u64>>;
using Bool = Scalar<BoolKind>;

template <class T>
inline constexpr bool always_false = false;

// Types that stand for a value of type T in an expression: elements of written buffers, as rvalues
// only (so that `auto old = y[i]` cannot be used later), and launch parameters.
template <class P, class T>
concept StandsFor = (!std::is_lvalue_reference_v<P> && P::template is_element_of<T>) ||
                    std::remove_cvref_t<P>::template is_param_of<T>;

template <class Kind>
class Scalar {
public:
    // The argument of operators: the current value, and the place of the expression.
    struct Operand {
        ir::Value value;
        Operand(const Scalar& s,
                const Location& location = Location::current()) {  // NOLINT: implicit by design
            set_place(location);
            value = s.value();
        }
        template <class N>
        requires Kind::template takes<N> Operand(
            N number, const Location& location = Location::current()) {  // NOLINT
            set_place(location);
            value = Kind::literal(number);
        }
        template <class P>
        requires StandsFor<P, Scalar> Operand(
            P&& element, const Location& location = Location::current()) {  // NOLINT
            set_place(location);
            value = static_cast<Scalar>(std::forward<P>(element)).value();
        }
    };

    Scalar() : Scalar(from(builder().zero(Kind::type()))) {}
    template <class N>
    requires Kind::template takes<N> Scalar(
        N number, const Location& location = Location::current()) {  // NOLINT: literals convert
        set_place(location);
        init(Kind::literal(number));
    }
    Scalar(const Scalar& other) { init(other.value()); }
    // Conversion between traced types, explicit.
    template <class Other>
    requires(!std::same_as<Kind, Other> && !std::same_as<Other, BoolKind>) explicit Scalar(
        const Scalar<Other>& other, const Location& location = Location::current()) {
        set_place(location);
        init(builder().emit(ir::OpCode::convert, Kind::type(), other.value()));
    }
    // Only variables are assigned: `x[i] = v` on a Read buffer does not compile.
    Scalar& operator=(const Scalar& other) & {
        builder_check();
        builder().write(slot_, other.value());
        return *this;
    }

    static Scalar from(ir::Value value) { return Scalar(Raw{value}); }
    ir::Value value() const {
        builder_check();
        const ir::Value v = builder().read(slot_);
        if (v == ir::no_value) throw builder().error("internal: a variable has no value");
        return v;
    }
    // Gives the value a name for error messages and reports; returns itself.
    Scalar& name(const std::string& text) {
        builder().name_value(value(), text);
        return *this;
    }
    // NaN finders and profiles show the name; `Float l = norm(d).name("length")` keeps it.
    template <class T>
    requires std::same_as<T, bool>
    explicit operator T() const {
        static_assert(always_false<T>,
                      "a traced condition is not known while tracing: use if_(c, ...), while_(...) "
                      "or select(c, a, b)");
        return false;
    }

// NOLINTBEGIN(bugprone-macro-parentheses): an operator takes none
#define HINDCAST_BINARY(symbol, op)                                                               \
    friend Scalar operator symbol(Operand a, Operand b) requires(!std::same_as<Kind, BoolKind>) { \
        return from(builder().binary(ir::OpCode::op, a.value, b.value));                          \
    }                                                                                             \
    Scalar& operator symbol##=(Operand b) & requires(!std::same_as<Kind, BoolKind>) {             \
        return *this = from(builder().binary(ir::OpCode::op, value(), b.value));                  \
    }
    HINDCAST_BINARY(+, add)
    HINDCAST_BINARY(-, sub)
    HINDCAST_BINARY(*, mul)
    HINDCAST_BINARY(/, div)
#undef HINDCAST_BINARY
    // NOLINTEND(bugprone-macro-parentheses)
#define HINDCAST_INTEGER(symbol, op)                                                              \
    friend Scalar operator symbol(Operand a, Operand b) requires(!std::same_as<Kind, RealKind>) { \
        return from(builder().binary(ir::OpCode::op, a.value, b.value));                          \
    }
    HINDCAST_INTEGER(%, rem)
    HINDCAST_INTEGER(<<, shift_left)
    HINDCAST_INTEGER(>>, shift_right)
    HINDCAST_INTEGER(&, bit_and)
    HINDCAST_INTEGER(|, bit_or)
    HINDCAST_INTEGER(^, bit_xor)
#undef HINDCAST_INTEGER
    friend Scalar operator-(Operand a) requires(!std::same_as<Kind, BoolKind>) {
        return from(builder().emit(ir::OpCode::neg, builder().type_of(a.value), a.value));
    }
    friend Scalar operator+(Operand a) requires(!std::same_as<Kind, BoolKind>) {
        return from(a.value);
    }
    friend Bool operator<(Operand a, Operand b) {
        return compare(ir::OpCode::lt, a.value, b.value);
    }
    friend Bool operator>(Operand a, Operand b) {
        return compare(ir::OpCode::lt, b.value, a.value);
    }
    friend Bool operator<=(Operand a, Operand b) {
        return compare(ir::OpCode::le, a.value, b.value);
    }
    friend Bool operator>=(Operand a, Operand b) {
        return compare(ir::OpCode::le, b.value, a.value);
    }
    friend Bool operator==(Operand a, Operand b) {
        return compare(ir::OpCode::eq, a.value, b.value);
    }
    friend Bool operator!=(Operand a, Operand b) {
        return !compare(ir::OpCode::eq, a.value, b.value);
    }
    // They take the type itself, not Operand: with that the built-in && || ! would match as well.
    friend Scalar operator&&(const Scalar& a,
                             const Scalar& b) requires std::same_as<Kind, BoolKind> {
        return from(builder().binary(ir::OpCode::bit_and, a.value(), b.value()));
    }
    friend Scalar operator||(const Scalar& a,
                             const Scalar& b) requires std::same_as<Kind, BoolKind> {
        return from(builder().binary(ir::OpCode::bit_or, a.value(), b.value()));
    }
    friend Scalar operator!(const Scalar& a) requires std::same_as<Kind, BoolKind> {
        return from(builder().emit(ir::OpCode::logical_not, ir::Type::boolean, a.value()));
    }
    // The branch taken has the derivative; see the op table for NaN and ties.
    friend Scalar min(Operand a, Operand b) requires(!std::same_as<Kind, BoolKind>) {
        return from(builder().binary(ir::OpCode::min, a.value, b.value));
    }
    friend Scalar max(Operand a, Operand b) requires(!std::same_as<Kind, BoolKind>) {
        return from(builder().binary(ir::OpCode::max, a.value, b.value));
    }
    friend Scalar clamp(Operand x, Operand low,
                        Operand high) requires(!std::same_as<Kind, BoolKind>) {
        return from(builder().binary(
            ir::OpCode::min, builder().binary(ir::OpCode::max, x.value, low.value), high.value));
    }
    friend Scalar abs(Operand a) requires(!std::same_as<Kind, BoolKind>) {
        return from(builder().emit(ir::OpCode::abs, builder().type_of(a.value), a.value));
    }
    friend Scalar select(const Bool& c, Operand a, Operand b) {
        return from(builder().select(c.value(), a.value, b.value));
    }

private:
    struct Raw {
        ir::Value value;
    };
    explicit Scalar(Raw raw) { init(raw.value); }
    void init(ir::Value value) {
        serial_ = builder().serial();
        slot_ = builder().declare(builder().type_of(value));
        builder().write(slot_, value);
    }
    void builder_check() const {
        if (serial_ != builder().serial())
            throw builder()
                .error("a value of another kernel is used in this one")
                .remedy(
                    "a kernel's lambda may capture host numbers only; pass what changes as a "
                    "parameter");
    }
    static Bool compare(ir::OpCode code, ir::Value a, ir::Value b) {
        return Bool::from(builder().compare(code, a, b));
    }

    ir::Slot slot_ = -1;
    std::uint32_t serial_ = 0;
};

// The selection between two literals: Int if both are whole numbers, else Float.
template <class A, class B>
requires(RealKind::takes<A>&& RealKind::takes<B>) auto select(
    const Bool& c, A a, B b, const Location& location = Location::current()) {
    const PlaceScope place(location);
    using S = std::conditional_t<std::is_integral_v<A> && std::is_integral_v<B>, Int, Float>;
    return select(c, S(a), S(b));
}

// Elementary functions: at most 2 ulp in f32 and 4 ulp in f64 on the ranges of the error table
// (elementary.md).
#define HINDCAST_UNARY(name)                                                                       \
    inline Float name(Float::Operand x) {                                                          \
        return Float::from(builder().emit(ir::OpCode::name, builder().type_of(x.value), x.value)); \
    }
HINDCAST_UNARY(sqrt)
HINDCAST_UNARY(floor)
HINDCAST_UNARY(ceil)
HINDCAST_UNARY(trunc)
HINDCAST_UNARY(round)
HINDCAST_UNARY(sin)
HINDCAST_UNARY(cos)
HINDCAST_UNARY(tan)
HINDCAST_UNARY(asin)
HINDCAST_UNARY(acos)
HINDCAST_UNARY(atan)
HINDCAST_UNARY(sinh)
HINDCAST_UNARY(cosh)
HINDCAST_UNARY(tanh)
HINDCAST_UNARY(exp)
HINDCAST_UNARY(expm1)
HINDCAST_UNARY(log)
HINDCAST_UNARY(log1p)
HINDCAST_UNARY(cbrt)
#undef HINDCAST_UNARY
inline Float atan2(Float::Operand y, Float::Operand x) {
    return Float::from(builder().binary(ir::OpCode::atan2, y.value, x.value));
}
inline Float pow(Float::Operand x, Float::Operand y) {
    return Float::from(builder().binary(ir::OpCode::pow, x.value, y.value));
}
// a*b fused with c in one rounding.
inline Float fma(Float::Operand a, Float::Operand b, Float::Operand c) {
    return Float::from(
        builder().emit(ir::OpCode::fma, builder().type_of(a.value), a.value, b.value, c.value));
}
// The products and quotients of singular points: 0 if a factor (mulz), the first factor (mulg) or
// the dividend (divz) is 0, whatever the other is. mulg is the cheaper one if you know which factor
// is 0.
inline Float mulz(Float::Operand a, Float::Operand b) {
    return Float::from(builder().binary(ir::OpCode::mulz, a.value, b.value));
}
inline Float mulg(Float::Operand a, Float::Operand b) {
    return Float::from(builder().binary(ir::OpCode::mulg, a.value, b.value));
}
inline Float divz(Float::Operand a, Float::Operand b) {
    return Float::from(builder().binary(ir::OpCode::divz, a.value, b.value));
}
// -1, 0 or 1; the derivative is zero.
inline Float sign(Float::Operand x) {
    ir::Builder& b = builder();
    const ir::Type t = b.type_of(x.value);
    const ir::Value zero = b.zero(t), one = b.real_constant(1, t);
    const ir::Value negative =
        b.select(b.compare(ir::OpCode::lt, x.value, zero), b.real_constant(-1, t), zero);
    return Float::from(b.select(b.compare(ir::OpCode::lt, zero, x.value), one, negative));
}
// sqrt(x) with a bounded derivative: sqrt(max(x, floor)).
inline Float safe_sqrt(Float::Operand x, Float::Operand floor_value) {
    ir::Builder& b = builder();
    return Float::from(b.emit(ir::OpCode::sqrt, b.type_of(x.value),
                              b.binary(ir::OpCode::max, x.value, floor_value.value)));
}

// Reinterprets the bits of a value, for elementary functions.
template <class To, class From>
To bit_cast(const Scalar<From>& x, ir::Type type) {
    return To::from(builder().emit(ir::OpCode::bitcast, type, x.value()));
}

}  // namespace hindcast::lang
