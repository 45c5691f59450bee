// What each op computes, against the table stated in engine/ir/ops.hpp: the results that C++ leaves
// open, NaN, signed zeros, and plain values against the C library.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "engine/ir/evaluate.hpp"
#include "engine/ir/kernel.hpp"

using namespace hindcast;
using ir::OpCode;
using ir::Type;

namespace {

template <class T>
constexpr Type type_of = Type::none;
template <>
constexpr Type type_of<bool> = Type::boolean;
template <>
constexpr Type type_of<std::int32_t> = Type::i32;
template <>
constexpr Type type_of<std::uint32_t> = Type::u32;
template <>
constexpr Type type_of<std::int64_t> = Type::i64;
template <>
constexpr Type type_of<std::uint64_t> = Type::u64;
template <>
constexpr Type type_of<float> = Type::f32;
template <>
constexpr Type type_of<double> = Type::f64;

template <class T>
T eval(OpCode code, T a, T b = {}, T c = {}) {
    return ir::from_bits<T>(ir::evaluate_op(code, type_of<T>, type_of<T>, ir::to_bits(a),
                                            ir::to_bits(b), ir::to_bits(c)));
}
template <class T>
bool compare(OpCode code, T a, T b) {
    return ir::evaluate_op(code, Type::boolean, type_of<T>, ir::to_bits(a), ir::to_bits(b), 0) != 0;
}
template <class To, class From>
To convert(From a) {
    return ir::from_bits<To>(
        ir::evaluate_op(OpCode::convert, type_of<To>, type_of<From>, ir::to_bits(a), 0, 0));
}
template <class T>
bool identical(T a, T b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr auto i32_min = std::numeric_limits<std::int32_t>::min();
constexpr auto i32_max = std::numeric_limits<std::int32_t>::max();
constexpr auto i64_min = std::numeric_limits<std::int64_t>::min();
constexpr auto i64_max = std::numeric_limits<std::int64_t>::max();
constexpr auto u32_max = std::numeric_limits<std::uint32_t>::max();
constexpr auto u64_max = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("integer add, sub, mul, neg and abs wrap around") {
    CHECK(eval<std::int32_t>(OpCode::add, i32_max, 1) == i32_min);
    CHECK(eval<std::int32_t>(OpCode::sub, i32_min, 1) == i32_max);
    CHECK(eval<std::int32_t>(OpCode::mul, 65536, 65536) == 0);
    CHECK(eval<std::int32_t>(OpCode::mul, i32_min, -1) == i32_min);
    CHECK(eval<std::int32_t>(OpCode::neg, i32_min) == i32_min);
    CHECK(eval<std::int32_t>(OpCode::neg, 7) == -7);
    CHECK(eval<std::int32_t>(OpCode::abs, i32_min) == i32_min);
    CHECK(eval<std::int32_t>(OpCode::abs, -7) == 7);
    CHECK(eval<std::int64_t>(OpCode::add, i64_max, 1) == i64_min);
    CHECK(eval<std::int64_t>(OpCode::mul, i64_max, 2) == -2);
    CHECK(eval<std::int64_t>(OpCode::neg, i64_min) == i64_min);
    CHECK(eval<std::uint32_t>(OpCode::add, u32_max, 1u) == 0);
    CHECK(eval<std::uint32_t>(OpCode::sub, 0u, 1u) == u32_max);
    CHECK(eval<std::uint32_t>(OpCode::neg, 1u) == u32_max);
    CHECK(eval<std::uint32_t>(OpCode::abs, u32_max) == u32_max);
    CHECK(eval<std::uint64_t>(OpCode::mul, u64_max, u64_max) == 1);
}

TEST_CASE("integer division and remainder truncate; by zero they are zero; INT_MIN / -1 wraps") {
    CHECK(eval<std::int32_t>(OpCode::div, 7, 2) == 3);
    CHECK(eval<std::int32_t>(OpCode::div, -7, 2) == -3);
    CHECK(eval<std::int32_t>(OpCode::rem, -7, 2) == -1);
    CHECK(eval<std::int32_t>(OpCode::rem, 7, -2) == 1);
    CHECK(eval<std::int32_t>(OpCode::div, 7, 0) == 0);
    CHECK(eval<std::int32_t>(OpCode::rem, 7, 0) == 0);
    CHECK(eval<std::int32_t>(OpCode::div, i32_min, -1) == i32_min);
    CHECK(eval<std::int32_t>(OpCode::rem, i32_min, -1) == 0);
    CHECK(eval<std::int32_t>(OpCode::rem, 5, -1) == 0);
    CHECK(eval<std::int64_t>(OpCode::div, i64_min, std::int64_t{-1}) == i64_min);
    CHECK(eval<std::int64_t>(OpCode::rem, i64_min, std::int64_t{-1}) == 0);
    CHECK(eval<std::int64_t>(OpCode::div, i64_min, std::int64_t{0}) == 0);
    CHECK(eval<std::uint32_t>(OpCode::div, u32_max, 2u) == 0x7fffffffu);
    CHECK(eval<std::uint32_t>(OpCode::div, u32_max, u32_max) == 1);  // not -1 / -1
    CHECK(eval<std::uint32_t>(OpCode::rem, 10u, u32_max) == 10);
    CHECK(eval<std::uint64_t>(OpCode::rem, u64_max, std::uint64_t{0}) == 0);
}

TEST_CASE("shifts by the width or more, and by negative amounts") {
    CHECK(eval<std::int32_t>(OpCode::shift_left, 1, 31) == i32_min);
    CHECK(eval<std::int32_t>(OpCode::shift_left, 1, 32) == 0);
    CHECK(eval<std::int32_t>(OpCode::shift_left, -1, -1) == 0);  // the amount read as unsigned
    CHECK(eval<std::int32_t>(OpCode::shift_left, i32_max, 1) == -2);
    CHECK(eval<std::int32_t>(OpCode::shift_right, -8, 1) == -4);
    CHECK(eval<std::int32_t>(OpCode::shift_right, -8, 31) == -1);
    CHECK(eval<std::int32_t>(OpCode::shift_right, -8, 32) == -1);
    CHECK(eval<std::int32_t>(OpCode::shift_right, 8, 32) == 0);
    CHECK(eval<std::int32_t>(OpCode::shift_right, 8, -1) == 0);
    CHECK(eval<std::uint32_t>(OpCode::shift_right, u32_max, 31u) == 1);
    CHECK(eval<std::uint32_t>(OpCode::shift_right, u32_max, 32u) == 0);
    CHECK(eval<std::uint32_t>(OpCode::shift_left, 3u, 31u) == 0x80000000u);
    CHECK(eval<std::int64_t>(OpCode::shift_left, 1, 63) == i64_min);
    CHECK(eval<std::int64_t>(OpCode::shift_left, 1, 64) == 0);
    CHECK(eval<std::int64_t>(OpCode::shift_right, i64_min, 100) == -1);
    CHECK(eval<std::uint64_t>(OpCode::shift_right, u64_max, std::uint64_t{63}) == 1);
    CHECK(eval<std::uint64_t>(OpCode::shift_right, u64_max, std::uint64_t{1} << 32) == 0);
}

TEST_CASE("real to integer truncates and saturates, NaN gives 0") {
    CHECK(convert<std::int32_t>(2.75) == 2);
    CHECK(convert<std::int32_t>(-2.75) == -2);
    CHECK(convert<std::int32_t>(2147483647.0) == i32_max);
    CHECK(convert<std::int32_t>(2147483647.5) == i32_max);
    CHECK(convert<std::int32_t>(2147483648.0) == i32_max);
    CHECK(convert<std::int32_t>(-2147483648.0) == i32_min);
    CHECK(convert<std::int32_t>(-2147483648.75) == i32_min);
    CHECK(convert<std::int32_t>(infinity) == i32_max);
    CHECK(convert<std::int32_t>(-infinity) == i32_min);
    CHECK(convert<std::int32_t>(no_number) == 0);
    CHECK(convert<std::int32_t>(2147483520.0f) == 2147483520);  // the last f32 below the limit
    CHECK(convert<std::int32_t>(2147483648.0f) == i32_max);
    CHECK(convert<std::uint32_t>(-0.75) == 0);
    CHECK(convert<std::uint32_t>(-5.0) == 0);
    CHECK(convert<std::uint32_t>(4294967295.0) == u32_max);
    CHECK(convert<std::uint32_t>(4294967296.0) == u32_max);
    CHECK(convert<std::uint32_t>(3e9f) == 3000000000u);
    CHECK(convert<std::int64_t>(9223372036854774784.0) == 9223372036854774784);
    CHECK(convert<std::int64_t>(9223372036854775808.0) == i64_max);
    CHECK(convert<std::int64_t>(-1e30) == i64_min);
    CHECK(convert<std::int64_t>(1e30f) == i64_max);
    CHECK(convert<std::uint64_t>(18446744073709549568.0) == 18446744073709549568u);
    CHECK(convert<std::uint64_t>(18446744073709551616.0) == u64_max);
    CHECK(convert<std::uint64_t>(no_number) == 0);
}

TEST_CASE(
    "integer to real rounds to nearest even; integers convert modulo 2^width; booleans are 0 and "
    "1") {
    CHECK(convert<float>(std::int32_t{16777217}) == 16777216.0f);
    CHECK(convert<float>(std::int32_t{16777219}) == 16777220.0f);
    CHECK(convert<float>(u32_max) == 4294967296.0f);
    CHECK(convert<float>(std::uint64_t{0x8000008000000001}) == 0x1.000002p63f);  // just above a tie
    CHECK(convert<float>(std::uint64_t{0x8000008000000000}) == 0x1p63f);         // a tie, to even
    CHECK(convert<double>(i64_max) == 9223372036854775808.0);
    CHECK(convert<double>(std::int64_t{9007199254740993}) == 9007199254740992.0);
    CHECK(convert<double>(u64_max) == 18446744073709551616.0);
    CHECK(convert<double>(std::int32_t{-7}) == -7);
    CHECK(convert<std::int32_t>(std::int64_t{0x1'0000'0005}) == 5);
    CHECK(convert<std::int32_t>(u32_max) == -1);
    CHECK(convert<std::uint32_t>(std::int32_t{-1}) == u32_max);
    CHECK(convert<std::int64_t>(std::int32_t{-1}) == -1);
    CHECK(convert<std::int64_t>(u32_max) == 4294967295);
    CHECK(convert<std::uint64_t>(std::int32_t{-1}) == u64_max);
    CHECK(convert<double>(true) == 1);
    CHECK(convert<std::int32_t>(true) == 1);
    CHECK(convert<bool>(std::int32_t{-4}) == true);
    CHECK(convert<bool>(0.0) == false);
    CHECK(convert<bool>(-0.0) == false);
    CHECK(convert<bool>(no_number) == true);
    CHECK(convert<float>(1e300) == std::numeric_limits<float>::infinity());
    CHECK(convert<float>(1 + 0x1p-24) == 1.0f);
    CHECK(convert<double>(0.1f) == static_cast<double>(0.1f));
    CHECK(ir::evaluate_op(OpCode::bitcast, Type::i32, Type::f32, ir::to_bits(-0.0f), 0, 0) ==
          0x80000000u);
}

TEST_CASE("min and max: ties, NaN and signed zeros") {
    CHECK(identical(eval(OpCode::min, 0.0, -0.0), 0.0));
    CHECK(identical(eval(OpCode::min, -0.0, 0.0), -0.0));
    CHECK(identical(eval(OpCode::max, 0.0, -0.0), 0.0));
    CHECK(identical(eval(OpCode::max, -0.0, 0.0), -0.0));
    CHECK(identical(eval(OpCode::min, no_number, 1.0), no_number));
    CHECK(identical(eval(OpCode::min, 1.0, no_number), 1.0));
    CHECK(identical(eval(OpCode::max, no_number, 1.0), no_number));
    CHECK(identical(eval(OpCode::max, 1.0, no_number), 1.0));
    CHECK(eval(OpCode::min, 2.0, -infinity) == -infinity);
    CHECK(eval<std::int32_t>(OpCode::min, -1, 1) == -1);
    CHECK(eval<std::uint32_t>(OpCode::min, u32_max, 1u) == 1);
    CHECK(eval<std::int64_t>(OpCode::max, i64_min, i64_max) == i64_max);
}

TEST_CASE("comparisons are false with NaN; zeros are equal") {
    for (const OpCode code : {OpCode::lt, OpCode::le, OpCode::eq}) {
        CHECK(!compare(code, no_number, 1.0));
        CHECK(!compare(code, 1.0, no_number));
        CHECK(!compare(code, no_number, no_number));
    }
    CHECK(compare(OpCode::eq, 0.0, -0.0));
    CHECK(!compare(OpCode::lt, -0.0, 0.0));
    CHECK(compare(OpCode::le, -0.0, 0.0));
    CHECK(compare(OpCode::lt, -infinity, infinity));
    CHECK(compare<std::int32_t>(OpCode::lt, -1, 0));
    CHECK(!compare<std::uint32_t>(OpCode::lt, u32_max, 0));
    CHECK(compare<std::int64_t>(OpCode::le, i64_min, i64_min));
    CHECK(compare(OpCode::eq, true, true));
}

TEST_CASE("mulz, mulg and divz: zero wins over infinity and NaN") {
    for (const double any : {infinity, -infinity, no_number, 0.0, -0.0, 5.0}) {
        CHECK(identical(eval(OpCode::mulz, 0.0, any), 0.0));
        CHECK(identical(eval(OpCode::mulz, -0.0, any), 0.0));
        CHECK(identical(eval(OpCode::mulz, any, 0.0), 0.0));
        CHECK(identical(eval(OpCode::mulg, 0.0, any), 0.0));
        CHECK(identical(eval(OpCode::mulg, -0.0, any), 0.0));
        CHECK(identical(eval(OpCode::divz, 0.0, any), 0.0));
        CHECK(identical(eval(OpCode::divz, -0.0, any), 0.0));
    }
    // Only the first factor of mulg is a gate.
    CHECK(identical(eval(OpCode::mulg, -3.0, 0.0), -0.0));
    CHECK(identical(eval(OpCode::mulg, infinity, 0.0), infinity * 0.0));
    CHECK(eval(OpCode::mulg, 3.0, -2.0) == -6);
    CHECK(eval(OpCode::mulz, 3.0, -2.0) == -6);
    CHECK(eval(OpCode::mulz, 3.0, infinity) == infinity);
    CHECK(identical(eval(OpCode::mulz, no_number, 2.0), no_number));
    CHECK(eval(OpCode::divz, 3.0, 0.0) == infinity);
    CHECK(eval(OpCode::divz, 3.0, -0.0) == -infinity);
    CHECK(eval(OpCode::divz, 3.0, 2.0) == 1.5);
    CHECK(identical(eval(OpCode::divz, no_number, 2.0), no_number));
}

TEST_CASE("rounding to integers") {
    CHECK(eval(OpCode::round, 0.5) == 0);
    CHECK(eval(OpCode::round, 1.5) == 2);
    CHECK(eval(OpCode::round, 2.5) == 2);
    CHECK(identical(eval(OpCode::round, -0.5), -0.0));
    CHECK(eval(OpCode::round, 0x1.fffffffffffffp-2) == 0);
    CHECK(eval(OpCode::round, 4503599627370497.5) == 4503599627370498.0);
    CHECK(eval(OpCode::floor, -1.25) == -2);
    CHECK(eval(OpCode::ceil, -1.25) == -1);
    CHECK(identical(eval(OpCode::ceil, -0.25), -0.0));
    CHECK(eval(OpCode::trunc, -1.75f) == -1.0f);
    CHECK(eval(OpCode::floor, infinity) == infinity);
    CHECK(identical(eval(OpCode::trunc, no_number), no_number));
}

TEST_CASE("fma, norm2 and norm3 round as stated") {
    const double a = 1 + 0x1p-30, b = 1 - 0x1p-30;
    CHECK(eval(OpCode::fma, a, b, -1.0) == -0x1p-60);
    CHECK(eval(OpCode::fma, 1.0f + 0x1p-12f, 1.0f - 0x1p-12f, -1.0f) == -0x1p-24f);
    std::mt19937_64 random(5);
    for (int k = 0; k < 200; ++k) {
        const auto draw = [&] {
            return static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-60;
        };
        const double x = draw(), y = draw(), z = draw();
        CHECK(eval(OpCode::norm2, x, y) == std::sqrt(std::fma(y, y, x * x)));
        CHECK(eval(OpCode::norm3, x, y, z) == std::sqrt(std::fma(z, z, std::fma(y, y, x * x))));
        const auto f = static_cast<float>(x), g = static_cast<float>(y);
        CHECK(eval(OpCode::norm2, f, g) == std::sqrt(std::fma(g, g, f * f)));
        CHECK(eval(OpCode::div, f, g) == f / g);
        CHECK(eval(OpCode::sqrt, std::fabs(f)) == std::sqrt(std::fabs(f)));
    }
    CHECK(eval(OpCode::norm2, 3.0, 4.0) == 5);
    CHECK(eval(OpCode::norm3, 2.0, 3.0, 6.0) == 7);
}

TEST_CASE("subnormals are kept") {
    const double least = std::numeric_limits<double>::denorm_min();
    CHECK(eval(OpCode::add, least, least) == 2 * least);
    CHECK(eval(OpCode::mul, 0x1p-1022, 0.5) == 0x1p-1023);
    CHECK(eval(OpCode::mul, 0x1p-126f, 0.5f) == 0x1p-127f);
    CHECK(eval(OpCode::neg, least) == -least);
}

TEST_CASE("negation and absolute value act on the sign alone") {
    CHECK(identical(eval(OpCode::neg, 0.0), -0.0));
    CHECK(identical(eval(OpCode::neg, -0.0), 0.0));
    CHECK(identical(eval(OpCode::sub, 0.0, 0.0), 0.0));  // which is why neg is not 0 - x
    CHECK(identical(eval(OpCode::abs, -0.0), 0.0));
    CHECK(eval(OpCode::abs, -infinity) == infinity);
}

TEST_CASE("booleans and bits") {
    CHECK(eval(OpCode::bit_and, true, false) == false);
    CHECK(eval(OpCode::bit_or, true, false) == true);
    CHECK(eval(OpCode::bit_xor, true, true) == false);
    CHECK(eval(OpCode::logical_not, false) == true);
    CHECK(eval<std::uint32_t>(OpCode::bit_xor, 0xff00ff00u, u32_max) == 0x00ff00ffu);
    CHECK(eval<std::int32_t>(OpCode::bit_and, -1, 0x0f) == 0x0f);
    CHECK(ir::evaluate_op(OpCode::select, Type::f64, Type::boolean, 1, ir::to_bits(2.0),
                          ir::to_bits(3.0)) == ir::to_bits(2.0));
    CHECK(ir::evaluate_op(OpCode::select, Type::f64, Type::boolean, 0, ir::to_bits(2.0),
                          ir::to_bits(3.0)) == ir::to_bits(3.0));
}

TEST_CASE("values travel as 64 bits, narrow ones with a zero high half") {
    CHECK(ir::to_bits(std::int32_t{-1}) == 0xffffffffu);
    CHECK(ir::to_bits(-1.0f) == 0xbf800000u);
    CHECK(ir::to_bits(true) == 1);
    CHECK(ir::from_bits<std::int32_t>(0xfffffffeu) == -2);
    CHECK(ir::integer_of(0xffffffffu, Type::i32) == -1);
    CHECK(ir::integer_of(0xffffffffu, Type::u32) == 4294967295);
    CHECK(ir::real_of(ir::bits_of(0.1, Type::f32), Type::f32) == static_cast<double>(0.1f));
    CHECK(eval<std::uint32_t>(OpCode::neg, 1u) == u32_max);
    CHECK(ir::evaluate_op(OpCode::sub, Type::i32, Type::i32, 0, 1, 0) == 0xffffffffu);
}

TEST_CASE("every pure op that is not elementary can be evaluated, and no other") {
    for (int n = 0; n < ir::op_count; ++n) {
        const OpCode code = static_cast<OpCode>(n);
        const ir::OpClass c = ir::info(code).op_class;
        INFO(ir::info(code).name);
        const bool arithmetic = c == ir::OpClass::arithmetic || c == ir::OpClass::comparison ||
                                c == ir::OpClass::conversion || c == ir::OpClass::selection;
        CHECK(ir::can_evaluate(code) == arithmetic);
        if (!arithmetic)
            CHECK_THROWS_AS(ir::evaluate_op(code, Type::f64, Type::f64, 0, 0, 0), Error);
        if (c != ir::OpClass::arithmetic) continue;
        bool some = false;
        for (const Type type : {Type::boolean, Type::i32, Type::f64}) try {
                ir::evaluate_op(code, type, type, 0, 0, 0);
                some = true;
            } catch (const Error&) {
            }
        CHECK(some);
    }
    // Reals have no remainder, integers no square root.
    CHECK_THROWS_AS(ir::evaluate_op(OpCode::rem, Type::f64, Type::f64, 0, 0, 0), Error);
    CHECK_THROWS_AS(ir::evaluate_op(OpCode::sqrt, Type::i32, Type::i32, 0, 0, 0), Error);
}
