// Kernels whose bodies do not use a parameter, of every kind and type: every direction, on every
// device. The body is y = k x, so every result is known; an argument that is not used keeps its
// bytes, but for a Sum, which is cleared.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/ad/differentiate.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Access;
using ir::Precision;
using ir::Type;
using test::array;
using Values = std::vector<double>;

namespace {

constexpr int items = 3;

// How a body names a parameter that no result depends on.
enum class Mention {
    none,
    dead,   // it computes a value and drops it
    folded  // it selects it by a constant
};

template <class P>
void mention(Mention, const Int&, const P&) {}
template <class T>
void mention(Mention how, const Int&, const Param<T>& p) {
    if (how == Mention::none) return;
    const T value = p.value();
    if constexpr (Shape<T>::rows == 1)
        if (how == Mention::folded) (void)select(Bool(true), value, T(value));
}
template <class T>
void mention(Mention how, const Int& i, const Read<T>& x) {
    if (how != Mention::none) (void)T(x[i]);
}
template <class T>
void mention(Mention how, const Int& i, const Property<T>& x) {
    if (how != Mention::none) (void)T(x[i]);
}

// y = k x beside parameters P that it does not use.
template <class... P>
KernelDef scale(Mention how) {
    std::vector<std::string> names{"x"};
    for (std::size_t n = 0; n < sizeof...(P); ++n) names.push_back("unused" + std::to_string(n));
    names.insert(names.end(), {"k", "y"});
    return kernel("scale", names,
                  [how](Int i, Read<Float> x, P... unused, Param<Float> k, Write<Float> y) {
                      (mention(how, i, unused), ...);
                      y[i] = x[i] * k;
                  });
}

struct Arrays {
    Array x = array({1, 2, 3}), y = array({7, 7, 7}), k = array({5});
};

// What the directions of y = k x come to.
void check_directions(const Launch& launch, const Arrays& a) {
    launch.forward().run();
    CHECK(a.y.to_doubles() == Values{5, 10, 15});

    a.y.gradient().assign(Values{1, 2, 4});
    launch.adjoint().run();
    CHECK(a.x.gradient().to_doubles() == Values{5, 10, 20});
    CHECK(a.k.gradient().value(0) == 1 + 4 + 12);
    CHECK(a.y.gradient().to_doubles() == Values{0, 0, 0});

    a.x.tangent().assign(Values{1, 0, -1});
    a.k.tangent().assign(Values{2});
    launch.replay(Direction::tangent).run();
    CHECK(a.y.tangent().to_doubles() == Values{5 + 2, 4, -5 + 6});

    // d/dt of x.a = k y.a and of k.a = sum x y.a
    for (const Array& g : {a.x.gradient(), a.k.gradient()}) {
        g.clear();
        g.tangent().clear();
    }
    a.y.gradient().assign(Values{1, 2, 4});
    a.y.gradient().tangent().assign(Values{1, 1, 1});
    launch.replay(Direction::adjoint_tangent).run();
    CHECK(a.x.gradient().tangent().to_doubles() == Values{2 + 5, 4 + 5, 8 + 5});
    CHECK(a.k.gradient().tangent().value(0) == (1 - 4) + (1 + 2 + 3));

    a.x.second_tangent().assign(Values{1, 1, 1});
    a.k.second_tangent().assign(Values{3});
    a.x.tangent().second_tangent().clear();
    a.k.tangent().second_tangent().clear();
    launch.replay(Direction::tangent_tangent).run();
    CHECK(a.y.tangent().second_tangent().to_doubles() ==
          Values{2 * 1 + 3 * 1, 2 * 1 + 3 * 0, 2 * 1 + 3 * -1});
}

// One argument for each parameter, in order. The unused ones hold 1, 2, 3, ...
std::vector<Argument> arguments(const KernelDef& def, const Arrays& a, bool shared,
                                std::vector<Array>& unused) {
    std::vector<Argument> list;
    for (std::size_t p = 0; p < def.parameters().size(); ++p) {
        ir::Parameter parameter = def.parameters()[p];
        if (parameter.name == "x") {
            list.emplace_back(a.x);
        } else if (parameter.name == "y") {
            list.emplace_back(a.y);
        } else if (parameter.name == "k") {
            list.emplace_back(a.k);
        } else {
            const bool one = shared && def.may_share(static_cast<int>(p));
            if (one) parameter.access = Access::value;
            const bool single = ir::is_single(parameter);
            const Array own(ir::memory_type(parameter), {single ? 1 : items, parameter.components});
            Values values;
            for (std::int64_t n = 0; n < own.size(); ++n)
                values.push_back(static_cast<double>(n + 1));
            own.assign(values);
            unused.push_back(own);
            list.push_back(one ? Argument::shared(own) : Argument(own));
        }
    }
    return list;
}

void check_unchanged(const KernelDef& def, const std::vector<Array>& unused) {
    std::size_t n = 0;
    for (const ir::Parameter& parameter : def.parameters()) {
        if (!parameter.name.starts_with("unused")) continue;
        CAPTURE(parameter.name);
        const Array& own = unused[n++];
        for (std::int64_t e = 0; e < own.elements(); ++e)
            for (int c = 0; c < own.components(); ++c)
                CHECK(own.value(e, c) == (parameter.access == Access::sum
                                              ? 0
                                              : static_cast<double>(e * own.components() + c + 1)));
    }
}

// Every derivative of the kernel, up to the adjoint of the adjoint, against each other and against
// differences.
void check_derivatives(const KernelDef& def) {
    test::Case one{.kernel = def.trace(Precision::f64), .items = items};
    for (const ir::Parameter& p : one.kernel.parameters)
        if (!ir::is_real(p.type))
            one.whole[p.name].assign(
                static_cast<std::size_t>((ir::is_single(p) ? 1 : items) * p.components), 1);
    std::mt19937_64 random(5);
    const test::Data base = test::inputs(one, random);
    const std::vector<std::string> problems =
        test::check_kernel(one, base, random, test::CheckOptions{.order = 3});
    for (const std::string& problem : problems) FAIL_CHECK(problem);
}

template <class... P>
void check_kind(const char* kind) {
    CAPTURE(kind);
    for (const Mention how : {Mention::none, Mention::dead, Mention::folded}) {
        CAPTURE(static_cast<int>(how));
        const KernelDef def = scale<P...>(how);
        check_derivatives(def);
        for (const bool shared : {false, true})
            for (const auto& device : test::devices()) {
                CAPTURE(device->describe());
                const Arrays a;
                std::vector<Array> unused;
                const Launch launch(device, def, Precision::f64, items,
                                    arguments(def, a, shared, unused));
                check_directions(launch, a);
                check_unchanged(def, unused);
            }
    }
}

// The same with the arguments left out.
template <class... P>
void check_left_out(const char* kind, std::initializer_list<Mention> ways) {
    CAPTURE(kind);
    for (const Mention how : ways) {
        CAPTURE(static_cast<int>(how));
        const KernelDef def = scale<P...>(how);
        const KernelDef rest = def.without_unused();
        REQUIRE(rest.parameters().size() == 3);
        check_derivatives(rest);
        check_derivatives(rest.without_unused());
        CHECK(rest.trace(Precision::f32).parameters.size() == 3);
        for (const auto& device : test::devices()) {
            CAPTURE(device->describe());
            const Arrays a;
            const Launch launch(device, def, Precision::f64, items,
                                {{"x", a.x}, {"k", a.k}, {"y", a.y}});
            CHECK(launch.kernel().parameters.size() == 3);
            check_directions(launch, a);
        }
    }
}

}  // namespace

TEST_CASE("unused parameters: no kind of parameter disturbs a kernel that does not use it") {
    check_kind<Read<Float>, Read<Int>, Read<UInt>, Read<Long>, Read<ULong>, Read<Vec3>, Read<Mat2>,
               Read<Int2>>("Read");
    check_kind<ReadWrite<Float>, ReadWrite<Int>, ReadWrite<Long>, ReadWrite<Vec3>, ReadWrite<Mat2>>(
        "ReadWrite");
    check_kind<Accumulate<Float>, Accumulate<Vec3>, Accumulate<Mat2>>("Accumulate");
    check_kind<Sum<Float>, Sum<Vec3>>("Sum");
    check_kind<WriteSlice<Float>, WriteSlice<Int>, WriteSlice<Vec3>>("WriteSlice");
    check_kind<Reduce<Float>, Reduce<Vec3>>("Reduce");
    check_kind<Atomic<Int>, Atomic<UInt>, Atomic<Long>, Atomic<ULong>>("Atomic");
    check_kind<Param<Float>, Param<Int>, Param<UInt>, Param<Long>, Param<ULong>, Param<Vec3>,
               Param<Mat2>, Param<Int2>>("Param");
    check_kind<Property<Float>, Property<Vec3>, Property<Int>>("Property");
}

TEST_CASE("unused parameters: those that a launch leaves out are not there") {
    const auto every = {Mention::none, Mention::dead, Mention::folded};
    check_left_out<Read<Float>, Read<Int>, Read<Mat3>>("Read", {Mention::none});
    check_left_out<ReadWrite<Float>, ReadWrite<Int>>("ReadWrite", {Mention::none});
    check_left_out<Accumulate<Float>, Accumulate<Vec3>>("Accumulate", {Mention::none});
    check_left_out<WriteSlice<Float>, WriteSlice<Int>>("WriteSlice", {Mention::none});
    check_left_out<Reduce<Float>, Reduce<Vec3>>("Reduce", {Mention::none});
    check_left_out<Atomic<Int>, Atomic<ULong>>("Atomic", {Mention::none});
    check_left_out<Property<Float>, Property<Vec3>>("Property", {Mention::none});
    check_left_out<Param<Float>, Param<Int>, Param<UInt>, Param<Long>, Param<ULong>, Param<Vec3>,
                   Param<Mat2>, Param<Int2>>("Param", every);
}

TEST_CASE("unused parameters: a Write must be stored") {
    CHECK(test::message([&] {
              scale<Write<Vec2>>(Mention::none).trace(Precision::f64);
          }).find("'unused0' is declared Write, but 0 of its 2 components are stored") !=
          std::string::npos);
}

TEST_CASE("unused parameters: a Sum is cleared, so it cannot be left out") {
    const Arrays a;
    CHECK(test::message([&] {
              Launch(test::interpreter_device(), scale<Sum<Float>>(Mention::none), Precision::f64,
                     items, {{"x", a.x}, {"k", a.k}, {"y", a.y}});
          }) ==
          "in kernel 'scale': the kernel 'scale' is given no argument for 'unused0'; its "
          "parameters are x, unused0, k, y; those that it does not use may be left out");
}

TEST_CASE("unused parameters: one that only one precision uses cannot be left out there") {
    // 1 + 1e-10 is above 1 in f64 only.
    const KernelDef def = kernel(
        "rounded", {"x", "k", "y"}, [](Int i, Read<Float> x, Param<Float> k, Write<Float> y) {
            y[i] = x[i] * select(Float(1) + Float(1e-10) > Float(1), Float(3), k.value());
        });
    const Array x = array({1, 2}), y = array({0, 0});
    Launch(test::interpreter_device(), def, Precision::f64, 2, {{"x", x}, {"y", y}})
        .forward()
        .run();
    CHECK(y.to_doubles() == Values{3, 6});
    const Array narrow = array({1, 2}, Type::f32), result = array({0, 0}, Type::f32);
    CHECK(test::message([&] {
              Launch(test::interpreter_device(), def, Precision::f32, 2,
                     {{"x", narrow}, {"y", result}});
          }) ==
          "in kernel 'rounded': the parameter 'k' was left out, but the kernel uses it in "
          "f32; give an argument for every parameter");
}

TEST_CASE("unused parameters: an op that names no parameter is an error when a launch is bound") {
    const KernelDef def =
        kernel("scale", {"x", "k", "y"},
               [](Int i, Read<Float> x, Param<Float> k, Write<Float> y) { y[i] = x[i] * k; });
    const ir::Kernel good = def.trace(Precision::f64);
    for (const ir::OpCode code : {ir::OpCode::load, ir::OpCode::parameter, ir::OpCode::own_store})
        for (const int symbol : {-1, 3, 1 << 30}) {
            ir::Kernel bad = good;
            for (ir::Op& op : bad.ops)
                if (op.code == code) op.symbol = symbol;
            CAPTURE(symbol);
            CHECK(test::message([&] { ir::verify(bad, "binding"); }).find("names no parameter") !=
                  std::string::npos);
        }
}
