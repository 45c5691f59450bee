// The printed form of a kernel, counting, and the verifier: each rule of kernel.hpp is broken once,
// by hand.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "engine/ad/differentiate.hpp"
#include "engine/ir/clone.hpp"
#include "engine/ir/kernel.hpp"
#include "engine/lang/kernel.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Access;
using ir::no_value;
using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::Value;

namespace {

// One of everything that the verifier looks at.
ir::Kernel sample() {
    const auto def =
        kernel("sample", {"x", "n", "p", "y", "f", "z", "e", "count"},
               [](Int i, Read<Vec2> x, Read<Int> n, Param<Float> p, ReadWrite<Float> y,
                  Accumulate<Float> f, WriteSlice<Float> z, Reduce<Float> e, Atomic<Int> count) {
                   Float s = x[i].x() * p;
                   for_(
                       0, n[i],
                       [&](Int k) {
                           if_(
                               s < x[k].y(), [&] { s = s * s; }, [&] { f[k] += s; });
                       },
                       7);
                   Int trips = 0;
                   while_([&] { return s > 1; },
                          [&] {
                              s = s * 0.5;
                              trips += 1;
                          },
                          9);
                   y[i] += s;
                   z.store_once(i, s);
                   e += s;
                   count[0].add(trips);
               });
    return def.trace(ir::Precision::f64);
}

Value find(const ir::Kernel& k, OpCode code) {
    for (const ir::Region& region : k.regions)
        for (const Value v : region.ops)
            if (k.op(v).code == code) return v;
    REQUIRE_MESSAGE(false, ir::info(code).name);
    return no_value;
}

// The kernel after `damage` fails with these words.
void broken(const std::string& words, const std::function<void(ir::Kernel&)>& damage,
            const ir::Kernel& good = sample()) {
    ir::Kernel k = good;
    REQUIRE_NOTHROW(ir::verify(k, "tracing"));
    damage(k);
    try {
        ir::verify(k, "a test");
    } catch (const Error& e) {
        const std::string text = e.what();
        CHECK_MESSAGE(text.find(words) != std::string::npos, text);
        CHECK(text.find("after a test") != std::string::npos);
        CHECK(text.find("kernel " + k.name) != std::string::npos);  // the IR is shown
        return;
    }
    FAIL_CHECK("not caught: " << words);
}

}  // namespace

TEST_CASE("a kernel prints one op per line, with types, names and regions") {
    ir::Builder b("axpy", ir::Precision::f32);
    const int x = b.add_parameter({"x", Access::read, Type::f32, 3, 1});
    const int a = b.add_parameter({"a", Access::value, Type::f32, 1, 1});
    const int y = b.add_parameter({"y", Access::read_write, Type::f32, 1, 1});
    const int n = b.add_parameter({"n", Access::read, Type::u64, 1, 1});
    b.contract = false;
    const Value count = b.load(n, 0, b.item());
    const Value scaled = b.binary(OpCode::mul, b.load(x, 2, b.item()), b.parameter(a, 0));
    b.name_value(scaled, "scaled");
    const ir::Slot own = b.own(y, b.item(), 0);
    b.if_(
        b.compare(OpCode::lt, count, b.integer(-1, Type::u64)), [&] { b.write(own, scaled); },
        [] {});
    b.for_(b.integer(20), 0, [&](Value) {
        b.write(own, b.binary(OpCode::add, b.read(own), b.real_constant(0.1, Type::f32)));
    });
    CHECK(ir::print(ir::simplify(b.finish(), true)) == R"(kernel axpy f32
  Read<f32 x 3> x
  Param<f32> a
  ReadWrite<f32> y
  Read<u64> n
  %1: u64 = load item @n
  %2: f32 = load item @x.2
  %4: f32 = mul %2 @a  "scaled"
  %5: f32 = own_load item @y
  %7: bool = lt %1 18446744073709551615
  %8 = if_ %7
  { ()
  } yield (%4)
  { ()
  } yield (%5)
  %15 = for_ 20
  { (%11, %12) from (%8)
    %14: f32 = add %12 0.100000001
  } yield (%14)
  own_store item %15 @y
)");
}

TEST_CASE("constants print so that they read back exactly") {
    ir::Builder b("constants", ir::Precision::f64);
    const int e = b.add_parameter({"e", Access::reduce, Type::f64, 1, 1});
    for (const double number : {0.1, -0.0, 1e300})
        b.effect(OpCode::reduce, e, 0, b.real_constant(number, Type::f64));
    const std::string text = ir::print(b.finish());
    for (const char* expected : {"reduce 0.10000000000000001 @e\n", "reduce -0 @e\n",
                                 "reduce 1.0000000000000001e+300 @e\n"})
        CHECK_MESSAGE(text.find(expected) != std::string::npos, text);
}

TEST_CASE("counting ops") {
    const ir::Kernel k = sample();
    CHECK(ir::count_ops(k, OpCode::for_) == 1);
    CHECK(ir::count_ops(k, OpCode::while_) == 1);
    CHECK(ir::count_ops(k, OpCode::break_unless) == 1);
    CHECK(ir::count_ops(k, OpCode::accumulate) == 1);
    CHECK(ir::count_ops(k, OpCode::sin) == 0);
    int all = 0;
    for (int n = 0; n < ir::op_count; ++n) all += ir::count_ops(k, static_cast<OpCode>(n));
    CHECK(ir::count_ops(k) == all);
}

TEST_CASE("the verifier accepts kernels, adjoints and tangents") {
    const ir::Kernel k = sample();
    for (const ir::Kernel& good : {k, ad::adjoint(k), ad::tangent(k), ad::adjoint(ad::adjoint(k)),
                                   ad::tangent(ad::adjoint(k))})
        CHECK_NOTHROW(ir::verify(good, "a test"));
}

TEST_CASE("the verifier: values and where they are visible") {
    broken("uses an absent value",
           [](ir::Kernel& k) { k.op(find(k, OpCode::mul)).operand[1] = no_value; });
    broken("uses an absent value", [](ir::Kernel& k) {
        k.op(find(k, OpCode::mul)).operand[1] = static_cast<Value>(k.ops.size());
    });
    broken("not visible here",
           [](ir::Kernel& k) { std::swap(k.region(0).ops.front(), k.region(0).ops.back()); });
    broken("not visible here", [](ir::Kernel& k) {  // a value of the loop's body, used after it
        k.op(find(k, OpCode::reduce)).operand[0] =
            k.region(k.nest(k.op(find(k, OpCode::while_))).region[0]).arguments[0];
    });
    broken("defined twice",
           [](ir::Kernel& k) { k.region(0).ops.push_back(k.region(0).ops.front()); });
    broken("too many operands", [](ir::Kernel& k) {
        k.op(find(k, OpCode::own_load)).operand[1] = k.op(find(k, OpCode::own_load)).operand[0];
    });
    broken("must not be listed", [](ir::Kernel& k) {
        k.ops.push_back({.code = OpCode::constant, .type = Type::f64});
        k.region(0).ops.push_back(static_cast<Value>(k.ops.size()) - 1);
    });
    broken("listed in another region",
           [](ir::Kernel& k) { k.op(find(k, OpCode::mul)).region = 1; });
}

TEST_CASE("the verifier: types") {
    broken("mixes types", [](ir::Kernel& k) { k.op(find(k, OpCode::mul)).type = Type::f32; });
    broken("compares different types", [](ir::Kernel& k) {
        k.op(find(k, OpCode::lt)).operand[0] = k.op(find(k, OpCode::for_)).operand[0];
    });
    broken("has no boolean condition",
           [](ir::Kernel& k) { k.op(find(k, OpCode::if_)).operand[0] = find(k, OpCode::mul); });
    broken("has no boolean condition", [](ir::Kernel& k) {
        k.op(find(k, OpCode::break_unless)).operand[0] = find(k, OpCode::mul);
    });
    broken("no i32 trip count",
           [](ir::Kernel& k) { k.op(find(k, OpCode::for_)).operand[0] = find(k, OpCode::mul); });
    broken("index that is not an integer", [](ir::Kernel& k) {
        k.op(find(k, OpCode::store_once)).operand[0] = find(k, OpCode::mul);
    });
    broken("stores a value of the wrong type", [](ir::Kernel& k) {
        k.op(find(k, OpCode::reduce)).operand[0] = k.op(find(k, OpCode::store_once)).operand[0];
    });
    broken("stores a value of the wrong type", [](ir::Kernel& k) {
        k.op(find(k, OpCode::own_store)).operand[1] = k.op(find(k, OpCode::own_store)).operand[0];
    });
    broken("yields another type", [](ir::Kernel& k) {
        const ir::Nest& nest = k.nest(k.op(find(k, OpCode::for_)));
        k.region(nest.region[0]).yields[0] = k.region(nest.region[0]).arguments[0];
    });
    broken("is not real", [](ir::Kernel& k) {
        Op& add = k.op(k.region(k.nest(k.op(find(k, OpCode::while_))).region[0]).yields[1]);
        REQUIRE(add.code == OpCode::add);  // trips += 1
        add = {.code = OpCode::sin,
               .type = Type::i32,
               .operand = {add.operand[0], no_value, no_value},
               .region = add.region};
    });
}

TEST_CASE("the verifier: access of parameters") {
    const auto access = [](const char* name, Access a) {
        return [=](ir::Kernel& k) { k.parameter(k.find_parameter(name)).access = a; };
    };
    broken("does not agree with the access", access("x", Access::accumulate));
    broken("does not agree with the access", access("f", Access::read));
    broken("does not agree with the access", access("y", Access::read));
    broken("does not agree with the access", access("z", Access::accumulate));
    broken("does not agree with the access", access("e", Access::value));
    broken("does not agree with the access", access("p", Access::read));
    broken("does not agree with the access", access("count", Access::accumulate));
    broken("names no parameter", [](ir::Kernel& k) { k.op(find(k, OpCode::reduce)).symbol = 99; });
    broken("names no component", [](ir::Kernel& k) { k.op(find(k, OpCode::load)).component = 2; });
    broken("has not the type of",
           [](ir::Kernel& k) { k.parameter(k.find_parameter("f")).type = Type::f32; });
}

TEST_CASE("the verifier: own elements stand at top level") {
    broken("is not at top level", [](ir::Kernel& k) {
        const Value load = find(k, OpCode::own_load);
        std::erase(k.region(0).ops, load);
        const int body = k.nest(k.op(find(k, OpCode::while_))).region[0];
        k.op(load).region = body;
        k.region(body).ops.insert(k.region(body).ops.begin(), load);
    });
}

TEST_CASE("the verifier: regions, loops and their carried values") {
    const auto loop = [](ir::Kernel& k) -> ir::Nest& {
        return k.nest(k.op(find(k, OpCode::for_)));
    };
    broken("does not own its region",
           [&](ir::Kernel& k) { k.region(loop(k).region[0]).owner = find(k, OpCode::while_); });
    broken("one init per result", [&](ir::Kernel& k) { loop(k).inits.pop_back(); });
    broken("one yield per result",
           [&](ir::Kernel& k) { k.region(loop(k).region[0]).yields.pop_back(); });
    broken("one argument per result",
           [&](ir::Kernel& k) { k.region(loop(k).region[0]).arguments.pop_back(); });
    broken("is not an argument",
           [&](ir::Kernel& k) { k.region(loop(k).region[0]).arguments[0] = find(k, OpCode::mul); });
    broken("is not result 0", [&](ir::Kernel& k) { k.op(loop(k).results[0]).symbol = 1; });
    broken("has no max_trips",
           [](ir::Kernel& k) { k.nest(k.op(find(k, OpCode::while_))).max_trips = 0; });
    broken("exactly one break_unless", [](ir::Kernel& k) {
        std::erase(k.region(k.nest(k.op(find(k, OpCode::while_))).region[0]).ops,
                   find(k, OpCode::break_unless));
    });
    broken("has regions", [](ir::Kernel& k) { k.op(find(k, OpCode::mul)).nest = 0; });
}

TEST_CASE("the verifier: local arrays") {
    const auto def = kernel("tape", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        Float p = x[i];
        for_(0, 20, [&](Int) { p *= p; });
        y[i] = p;
    });
    const ir::Kernel adjoint = ad::adjoint(def.trace(ir::Precision::f64));
    broken(
        "does not name a local array",
        [](ir::Kernel& k) { k.op(find(k, OpCode::local_load)).operand[0] = find(k, OpCode::load); },
        adjoint);
    broken(
        "not the type of its local array",
        [](ir::Kernel& k) {
            Op& read = k.op(find(k, OpCode::local_load));
            read.type = Type::f32;
        },
        adjoint);
    broken(
        "index that is not an integer",
        [](ir::Kernel& k) { k.op(find(k, OpCode::local_load)).operand[1] = find(k, OpCode::load); },
        adjoint);
}
