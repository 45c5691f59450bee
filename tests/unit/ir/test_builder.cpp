// Recording: sharing equal values, folding that changes no bit, contraction, variables and regions.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/ir/builder.hpp"
#include "engine/ir/clone.hpp"
#include "engine/ir/evaluate.hpp"

using namespace hindcast;
using ir::Builder;
using ir::no_value;
using ir::OpCode;
using ir::Type;
using ir::Value;

namespace {

// A builder with two real loads x, y, two integer loads i, j and a condition c.
struct Recording {
    Builder b{"recording", ir::Precision::f64};
    Value x, y, i, j, c;
    int target;
    Recording() {
        b.contract = false;
        const int reals = b.add_parameter({"reals", ir::Access::read, Type::f64, 2, 1});
        const int whole = b.add_parameter({"whole", ir::Access::read, Type::i32, 2, 1});
        target = b.add_parameter({"target", ir::Access::accumulate, Type::f64, 1, 1});
        x = b.load(reals, 0, b.item());
        y = b.load(reals, 1, b.item());
        i = b.load(whole, 0, b.item());
        j = b.load(whole, 1, b.item());
        c = b.compare(OpCode::lt, x, y);
    }
    Value real(double number) { return b.real_constant(number, Type::f64); }
    Value op(OpCode code, Value p, Value q = no_value, Value r = no_value) {
        return b.emit(code, b.type_of(p), p, q, r);
    }
    void use(Value v) { b.effect(OpCode::accumulate, target, 0, b.item(), v); }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("equal values are recorded once, commutative operands in either order") {
    Recording r;
    for (const OpCode code : {OpCode::add, OpCode::mul, OpCode::mulz})
        CHECK(r.op(code, r.x, r.y) == r.op(code, r.y, r.x));
    for (const OpCode code :
         {OpCode::add, OpCode::mul, OpCode::bit_and, OpCode::bit_or, OpCode::bit_xor})
        CHECK(r.op(code, r.i, r.j) == r.op(code, r.j, r.i));
    CHECK(r.op(OpCode::fma, r.x, r.y, r.x) == r.op(OpCode::fma, r.y, r.x, r.x));
    CHECK(r.b.compare(OpCode::eq, r.x, r.y) == r.b.compare(OpCode::eq, r.y, r.x));
    for (const OpCode code : {OpCode::sub, OpCode::div, OpCode::divz, OpCode::min, OpCode::max,
                              OpCode::norm2, OpCode::pow}) {
        CHECK(r.op(code, r.x, r.y) == r.op(code, r.x, r.y));
        CHECK(r.op(code, r.x, r.y) != r.op(code, r.y, r.x));
    }
    CHECK(r.b.compare(OpCode::lt, r.x, r.y) != r.b.compare(OpCode::lt, r.y, r.x));
    CHECK(r.b.load(0, 0, r.b.item()) == r.x);
    CHECK(r.b.load(0, 1, r.b.item()) == r.y);
    CHECK(r.b.load(0, 0, r.i) != r.x);
    CHECK(r.b.variable(r.x) != r.b.variable(r.x));  // opaque: two variables are two
    CHECK(r.real(0.0) != r.real(-0.0));
    CHECK(r.real(1.5) == r.real(1.5));
    CHECK(r.b.integer(1) != r.b.integer(1, Type::u32));
}

TEST_CASE("folding changes no bit: what is folded, and what is not") {
    Recording r;
    const Value x = r.x;
    CHECK(r.op(OpCode::mul, x, r.real(1)) == x);
    CHECK(r.op(OpCode::mul, r.real(1), x) == x);
    CHECK(r.op(OpCode::mul, x, r.real(-1)) == r.op(OpCode::neg, x));
    CHECK(r.op(OpCode::neg, r.op(OpCode::neg, x)) == x);
    CHECK(r.op(OpCode::div, x, r.real(1)) == x);
    CHECK(r.op(OpCode::add, x, r.real(-0.0)) == x);
    CHECK(r.op(OpCode::add, r.real(-0.0), x) == x);
    CHECK(r.op(OpCode::sub, x, r.real(0)) == x);
    CHECK(r.b.select(r.c, x, x) == x);
    CHECK(r.b.select(r.b.boolean(true), x, r.y) == x);
    CHECK(r.b.select(r.b.boolean(false), x, r.y) == r.y);

    const auto kept = [&](Value v) { return v != x && !r.b.is_constant(v); };
    CHECK(kept(r.op(OpCode::add, x, r.real(0))));     // -0 + 0 is 0
    CHECK(kept(r.op(OpCode::sub, x, r.real(-0.0))));  // the same
    CHECK(kept(r.op(OpCode::sub, r.real(0), x)));
    CHECK(kept(r.op(OpCode::mul, x, r.real(0))));   // infinity, NaN, the sign
    CHECK(kept(r.op(OpCode::mulz, x, r.real(1))));  // -0 becomes 0
    CHECK(kept(r.op(OpCode::mulz, x, r.real(0))));
    CHECK(kept(r.op(OpCode::divz, r.real(0), x)));
    CHECK(kept(r.op(OpCode::sub, x, x)));  // infinity - infinity
    CHECK(kept(r.op(OpCode::div, x, x)));
    CHECK(kept(r.op(OpCode::div, x, r.real(2))));
    CHECK(kept(r.op(OpCode::min, x, x)));
    CHECK(!r.b.is_constant(r.b.compare(OpCode::eq, x, x)));  // NaN
    CHECK(!r.b.is_constant(r.b.compare(OpCode::le, x, x)));
    CHECK(kept(r.op(OpCode::fma, x, r.real(0), r.y)));
    CHECK(kept(r.op(OpCode::sin,
                    r.real(0))));  // elementary functions have one definition: their expansion
}

TEST_CASE("folding of integers and booleans") {
    Recording r;
    const Value i = r.i, zero = r.b.integer(0), one = r.b.integer(1), c = r.c;
    CHECK(r.op(OpCode::add, i, zero) == i);
    CHECK(r.op(OpCode::sub, i, zero) == i);
    CHECK(r.op(OpCode::mul, i, one) == i);
    CHECK(r.op(OpCode::mul, i, zero) == zero);
    CHECK(r.op(OpCode::sub, i, i) == zero);
    CHECK(r.op(OpCode::div, i, one) == i);
    CHECK(r.op(OpCode::min, i, i) == i);
    CHECK(r.op(OpCode::sub, i, r.op(OpCode::sub, i, r.j)) == r.j);
    const Value i_plus_2 = r.op(OpCode::add, r.op(OpCode::add, i, r.b.integer(5)), r.b.integer(-3));
    CHECK(i_plus_2 == r.op(OpCode::add, i, r.b.integer(2)));
    CHECK(r.b.compare(OpCode::eq, i, i) == r.b.boolean(true));
    CHECK(r.b.compare(OpCode::le, i, i) == r.b.boolean(true));
    CHECK(r.b.compare(OpCode::lt, i, i) == r.b.boolean(false));
    CHECK(r.op(OpCode::bit_and, c, r.b.boolean(true)) == c);
    CHECK(r.op(OpCode::bit_and, c, r.b.boolean(false)) == r.b.boolean(false));
    CHECK(r.op(OpCode::bit_or, c, r.b.boolean(false)) == c);
    CHECK(r.op(OpCode::bit_or, r.b.boolean(true), c) == r.b.boolean(true));
    CHECK(r.op(OpCode::logical_not, r.op(OpCode::logical_not, c)) == c);
    CHECK(r.b.emit(OpCode::convert, Type::i32, i) == i);
    CHECK(r.b.emit(OpCode::convert, Type::i64, i) != i);
    // Constants, with the results of the op table.
    CHECK(r.op(OpCode::div, r.b.integer(7), zero) == zero);
    CHECK(r.op(OpCode::add, r.b.integer(0x7fffffff), one) == r.b.integer(-0x80000000ll));
    CHECK(r.op(OpCode::shift_left, one, r.b.integer(40)) == zero);
    CHECK(r.op(OpCode::mul, r.real(infinity), r.real(2)) == r.real(infinity));
    CHECK(std::isnan(
        ir::real_of(r.b.op(r.op(OpCode::mul, r.real(infinity), r.real(0))).bits, Type::f64)));
    CHECK(r.op(OpCode::sqrt, r.real(2)) == r.real(std::sqrt(2.0)));
    CHECK(r.b.emit(OpCode::convert, Type::i32, r.real(-2.5)) == r.b.integer(-2));
    CHECK(r.b.emit(OpCode::convert, Type::f32, r.real(0.1)) ==
          r.b.constant(Type::f32, ir::to_bits(0.1f)));
}

TEST_CASE("folding of remainders and quotients: items are not negative, other values may be") {
    Recording r;
    const Value item = r.b.item();
    const auto rem = [&](Value x, std::int64_t by) {
        return r.op(OpCode::rem, x, r.b.integer(by));
    };
    for (const std::int64_t by : {1, 2, 8, 1 << 30})
        CHECK(rem(item, by) == r.op(OpCode::bit_and, item, r.b.integer(by - 1)));
    for (const std::int64_t by : {0, 3, 12, -8})
        CHECK(r.b.kernel().op(rem(item, by)).code == OpCode::rem);
    CHECK(r.b.kernel().op(rem(r.i, 8)).code == OpCode::rem);
    CHECK(r.b.kernel().op(rem(r.op(OpCode::sub, item, r.i), 8)).code == OpCode::rem);
    const auto div = [&](Value x, std::int64_t by) {
        return r.op(OpCode::div, x, r.b.integer(by));
    };
    CHECK(div(item, 1) == item);
    CHECK(div(item, 8) == r.op(OpCode::shift_right, item, r.b.integer(3)));
    for (const std::int64_t by : {0, 3, 12, -8})
        CHECK(r.b.kernel().op(div(item, by)).code == OpCode::div);
    CHECK(r.b.kernel().op(div(r.i, 8)).code == OpCode::div);
}

TEST_CASE("contraction: by definition of the operand, the left product first") {
    Recording r;
    r.b.contract = true;
    const Value product = r.op(OpCode::mul, r.x, r.y), other = r.op(OpCode::mul, r.x, r.x);
    const Value sum = r.op(OpCode::add, product, r.x);
    CHECK(r.b.op(sum).code == OpCode::fma);
    CHECK(r.op(OpCode::add, r.x, product) == sum);
    const Value both = r.op(OpCode::add, product, other);
    CHECK(r.b.op(both).code == OpCode::fma);
    CHECK(r.b.op(both).operand[2] == other);
    const Value minus = r.op(OpCode::sub, r.x, product);
    CHECK(r.b.op(minus).code == OpCode::fma);
    CHECK(r.b.op(r.b.op(minus).operand[2]).code == OpCode::load);
    const Value integers = r.op(OpCode::add, r.op(OpCode::mul, r.i, r.j), r.i);
    CHECK(r.b.op(integers).code == OpCode::add);
    CHECK(r.b.op(r.op(OpCode::add, r.op(OpCode::mulz, r.x, r.y), r.x)).code == OpCode::add);
    r.b.contract = false;
    CHECK(r.b.op(r.op(OpCode::add, r.op(OpCode::mul, r.y, r.y), r.y)).code == OpCode::add);
}

TEST_CASE("values of closed regions are not shared with what follows, those of open ones are") {
    Recording r;
    Value before = r.op(OpCode::sqrt, r.x), inside = no_value;
    r.b.if_(
        r.c,
        [&] {
            CHECK(r.op(OpCode::sqrt, r.x) == before);
            inside = r.op(OpCode::sqrt, r.y);
            CHECK(r.op(OpCode::sqrt, r.y) == inside);
            r.use(inside);
        },
        [&] { CHECK(r.op(OpCode::sqrt, r.y) != inside); });
    CHECK(r.op(OpCode::sqrt, r.y) != inside);
}

TEST_CASE("a branch yields what it changed, and only that") {
    Recording r;
    const ir::Slot changed = r.b.declare(Type::f64), same = r.b.declare(Type::f64),
                   one_side = r.b.declare(Type::f64);
    for (const ir::Slot s : {changed, same, one_side}) r.b.write(s, r.x);
    r.b.if_(
        r.c,
        [&] {
            r.b.write(changed, r.op(OpCode::neg, r.x));
            r.b.write(same, r.y);
            r.b.write(one_side, r.y);
        },
        [&] {
            r.b.write(changed, r.y);
            r.b.write(same, r.y);
        });
    CHECK(r.b.read(same) == r.y);
    CHECK(r.b.op(r.b.read(changed)).code == OpCode::result);
    CHECK(r.b.op(r.b.read(one_side)).code == OpCode::result);
    CHECK(r.b.kernel().nests.back().results.size() == 2);
    // A constant condition runs one side and records no branch.
    const int ops = ir::count_ops(r.b.kernel(), OpCode::if_);
    r.b.if_(
        r.b.boolean(false), [&] { r.b.write(changed, r.x); }, [&] { r.b.write(changed, r.y); });
    CHECK(r.b.read(changed) == r.y);
    CHECK(ir::count_ops(r.b.kernel(), OpCode::if_) == ops);
}

TEST_CASE("a loop carries what its body assigns; what it only reads stays outside") {
    Recording r;
    const ir::Slot sum = r.b.declare(Type::f64), constant = r.b.declare(Type::f64),
                   again = r.b.declare(Type::f64);
    r.b.write(sum, r.x);
    r.b.write(constant, r.y);
    r.b.write(again, r.x);
    Value trip = no_value;
    r.b.for_(r.i, 0, [&](Value t) {
        trip = t;
        r.b.write(sum, r.op(OpCode::add, r.b.read(sum), r.b.read(constant)));
        r.b.write(again, r.b.read(again));
    });
    const ir::Nest& nest = r.b.kernel().nests.back();
    const ir::Region& body = r.b.kernel().region(nest.region[0]);
    REQUIRE(nest.results.size() == 1);
    CHECK(r.b.read(sum) == nest.results[0]);
    CHECK(r.b.read(constant) == r.y);
    CHECK(r.b.read(again) == r.x);
    CHECK(nest.inits[0] == r.x);
    REQUIRE(body.arguments.size() == 2);
    CHECK(body.arguments[0] == trip);
    const ir::Op& add = r.b.op(body.yields[0]);
    CHECK(((add.operand[0] == r.y && add.operand[1] == body.arguments[1]) ||
           (add.operand[1] == r.y && add.operand[0] == body.arguments[1])));
    r.use(r.b.read(sum));
    const ir::Kernel k = r.b.finish();
    CHECK_NOTHROW(ir::verify(k, "this test"));
    // A constant count of no trips records nothing.
    Recording none;
    none.b.for_(none.b.integer(-3), 0, [&](Value) { FAIL_CHECK("the body ran"); });
    CHECK(ir::count_ops(none.b.kernel(), OpCode::for_) == 0);
}

TEST_CASE("an adjoint begins absent and stays so unless a loop or branch was crossed") {
    Recording r;
    const ir::Slot adjoint = r.b.declare(Type::f64);
    CHECK(r.b.read(adjoint) == no_value);
    CHECK(r.b.read_or_zero(adjoint) == r.real(0));
    r.b.if_(
        r.c,
        [&] {
            CHECK(r.b.read(adjoint) == no_value);
            r.b.write(adjoint, r.x);
        },
        [] {});
    const Value merged = r.b.read(adjoint);
    REQUIRE(merged != no_value);
    CHECK(r.b.kernel().region(r.b.kernel().nests[0].region[1]).yields[0] == r.real(0));
    const ir::Slot in_loop = r.b.declare(Type::f64);
    r.b.for_(r.i, 0,
             [&](Value) { CHECK(r.b.read(in_loop) != no_value); });  // may hold an earlier trip's
    CHECK(r.b.read(in_loop) == no_value);                            // nothing was added
}

TEST_CASE("simplification folds what loops hid and drops what nobody reads") {
    Recording r;
    const ir::Slot one = r.b.declare(Type::f64), dead = r.b.declare(Type::f64),
                   live = r.b.declare(Type::f64);
    r.b.write(one, r.real(1));
    r.b.write(dead, r.x);
    r.b.write(live, r.x);
    r.b.for_(r.i, 0, [&](Value) {
        r.b.write(live, r.op(OpCode::mul, r.op(OpCode::sqrt, r.b.read(live)), r.b.read(one)));
        r.b.write(one, r.b.read(one));
        r.b.write(dead, r.op(OpCode::sin, r.b.read(dead)));
    });
    r.use(r.b.read(live));
    const ir::Kernel simple = ir::simplify(r.b.finish(), true);
    CHECK(ir::count_ops(simple, OpCode::mul) == 0);
    CHECK(ir::count_ops(simple, OpCode::sin) == 0);
    CHECK(ir::count_ops(simple, OpCode::sqrt) == 1);
    for (const Value v : simple.region(0).ops)
        if (simple.op(v).code == OpCode::for_) CHECK(simple.nest(simple.op(v)).results.size() == 1);
    CHECK_NOTHROW(ir::verify(simple, "this test"));
    const std::string text = ir::print(simple);
    CHECK(ir::print(ir::simplify(simple, true)).size() == text.size());  // nothing is left to do
}

TEST_CASE("wrong types are refused while recording") {
    Recording r;
    CHECK_THROWS_AS(r.b.emit(OpCode::add, Type::f64, r.x, r.i), Error);
    CHECK_THROWS_AS(r.b.emit(OpCode::add, Type::i32, r.x, r.y), Error);
    CHECK_THROWS_AS(r.b.emit(OpCode::neg, Type::f64, r.x, r.y), Error);
    CHECK_THROWS_AS(r.b.emit(OpCode::add, Type::f64, r.x), Error);
    CHECK_THROWS_AS(r.b.select(r.x, r.x, r.y), Error);
    CHECK_THROWS_AS(r.b.compare(OpCode::lt, r.x, r.i), Error);
    CHECK_THROWS_AS(r.b.emit(OpCode::load, Type::f64, r.i), Error);
    CHECK_THROWS_AS(r.b.emit(OpCode::add, Type::f64, r.x, Value{100000}), Error);
}
