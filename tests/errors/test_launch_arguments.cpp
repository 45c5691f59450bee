// What a Launch refuses when it is made or an argument is set: arity, type, shape, numbers, names.
// A refused argument changes nothing.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using hindcast::test::message;
using ir::Precision;
using ir::Type;

namespace {

const KernelDef scale = kernel(
    "scale", {"x", "factor", "y"},
    [](Int i, Read<Vec3> x, Param<Float> factor, Write<Vec3> y) { y[i] = x[i] * factor.value(); });
const KernelDef count = kernel("count", {"n", "offset", "y"},
                               [](Int i, Param<Int> n, Param<Int2> offset, Write<Int> y) {
                                   y[i] = n.value() + offset.value().x() + offset.value().y();
                               });
const KernelDef weigh = kernel(
    "weigh", {"weight", "x", "y"},
    [](Int i, Property<Float> weight, Read<Float> x, Write<Float> y) { y[i] = weight[i] * x[i]; });

struct Vectors {
    Array x{Type::f64, {4, 3}}, y{Type::f64, {4, 3}};
    Launch launch() const {
        return {test::interpreter_device(), scale, Precision::f64, 4, {x, 2.0, y}, "scale all"};
    }
};

std::string made(std::int64_t items, const std::vector<Argument>& arguments) {
    return message([&] {
        Launch(test::interpreter_device(), scale, Precision::f64, items, arguments, "scale all");
    });
}

}  // namespace

TEST_CASE("launch errors: arity, items and device") {
    const Vectors v;
    CHECK(made(4, {v.x, 2.0}) ==
          "in kernel 'scale all': the kernel has 3 parameters, but 2 arguments are given; give one "
          "argument per parameter, in order");
    CHECK(made(4, {v.x, 2.0, v.y, 1.0}).find("but 4 arguments are given") != std::string::npos);
    CHECK(made(-1, {v.x, 2.0, v.y}) ==
          "in kernel 'scale all': a launch of -1 items is not possible");
    CHECK(made(std::int64_t{1} << 31, {v.x, 2.0, v.y}) ==
          "in kernel 'scale all': a launch of 2147483648 items is not possible: the work item is "
          "an Int; split the launch");
    CHECK(message([&] {
              Launch(nullptr, scale, Precision::f64, 4, {v.x, 2.0, v.y});
          }) == "in kernel 'scale': a launch needs a device");
    Launch launch = v.launch();
    CHECK(message([&] { launch.move_to(std::shared_ptr<Device>()); }) ==
          "in kernel 'scale all': a launch needs a device");
    CHECK(message([] { Stream(nullptr); }) == "a stream needs a device");
}

TEST_CASE("launch errors: arguments by name") {
    const Vectors v;
    const auto made_by_name = [&](const std::vector<NamedArgument>& arguments) {
        return message([&] {
            Launch(test::interpreter_device(), scale, Precision::f64, 4, arguments, "scale all");
        });
    };
    CHECK(made_by_name({{"y", v.y}, {"factor", 2.0}, {"x", v.x}}) == "no error");
    CHECK(made_by_name({{"x", v.x}, {"factr", 2.0}, {"y", v.y}}) ==
          "in kernel 'scale all': the kernel 'scale' has no parameter 'factr'; did you mean "
          "'factor'? its parameters are x, factor, y");
    CHECK(made_by_name({{"x", v.x}, {"weight", 2.0}, {"y", v.y}}) ==
          "in kernel 'scale all': the kernel 'scale' has no parameter 'weight'; its parameters are "
          "x, factor, y");
    CHECK(made_by_name({{"x", v.x}, {"y", v.y}}) ==
          "in kernel 'scale all': the kernel 'scale' is given no argument for 'factor'; its "
          "parameters are x, factor, y; those that it does not use may be left out");
    CHECK(made_by_name({{"x", v.x}, {"factor", 2.0}, {"y", v.y}, {"factor", 3.0}}) ==
          "in kernel 'scale all': the kernel 'scale' is given two arguments for 'factor'; give "
          "one; its parameters are x, factor, y");
    CHECK(made_by_name({{"x", v.x}, {"factor", v.x}, {"y", v.y}}).find("'factor' takes 1 scalar") !=
          std::string::npos);
}

TEST_CASE("launch: what a kernel does not use may be left out of arguments by name") {
    const auto line = [](bool shifted) {
        return kernel("line", {"x", "slope", "shift", "y"},
                      [shifted](Int i, Read<Float> x, Property<Float> slope, Property<Float> shift,
                                Write<Float> y) {
                          y[i] = shifted ? slope[i] * x[i] + shift[i] : slope[i] * x[i];
                      });
    };
    const auto device = test::interpreter_device();
    const Array x = Array::from(std::vector<double>{1, 2, 3}, Type::f64, {3}), y(Type::f64, {3});
    const Launch with(device, line(true), Precision::f64, 3,
                      {{"shift", 0.5}, {"y", y}, {"slope", 2.0}, {"x", x}});
    with.forward().run();
    CHECK(y.to_doubles() == std::vector<double>{2.5, 4.5, 6.5});
    CHECK(with.kernel().parameters.size() == 4);
    const Launch without(device, line(false), Precision::f64, 3,
                         {{"y", y}, {"slope", 3.0}, {"x", x}});
    without.forward().run();
    CHECK(y.to_doubles() == std::vector<double>{3, 6, 9});
    CHECK(without.kernel().find_parameter("shift") == -1);
    CHECK(message([&] {
              Launch(device, line(true), Precision::f64, 3, {{"y", y}, {"slope", 3.0}, {"x", x}});
          }).find("is given no argument for 'shift'") != std::string::npos);
}

TEST_CASE(
    "kernel: a sum instead of an accumulation clears first; of another parameter it is none") {
    const KernelDef add =
        kernel("add", {"x", "y"}, [](Int i, Read<Float> x, Accumulate<Float> y) { y[0] += x[i]; });
    const Array x = Array::from(std::vector<double>{1, 2, 3}, Type::f64, {3}), y(Type::f64, {2});
    y.fill(10);
    const auto device = test::interpreter_device();
    Launch(device, add, Precision::f64, 3, {x, y}).forward().run();
    CHECK(y.to_doubles() == std::vector<double>{16, 10});
    Launch(device, add.with_sum("y"), Precision::f64, 3, {x, y}).forward().run();
    CHECK(y.to_doubles() == std::vector<double>{6, 0});
    CHECK(message([&] { add.with_sum("x"); }) ==
          "in kernel 'add': 'x' is not an Accumulate; name a parameter that the kernel adds to");
}

TEST_CASE("launch errors: type and shape of arrays") {
    const Vectors v;
    CHECK(made(4, {Array(Type::f32, {4, 3}), 2.0, v.y}) ==
          "in kernel 'scale all': 'x' takes f64, but the array holds f32; make the array with the "
          "kernel's type");
    CHECK(made(4, {Array(Type::i32, {4, 3}), 2.0, v.y}).find("'x' takes f64") != std::string::npos);
    CHECK(made(4, {Array(Type::f64, {4, 2}), 2.0, v.y}) ==
          "in kernel 'scale all': 'x' has elements of 3 components, but the array's have 2; check "
          "the array's shape");
    CHECK(made(4, {v.x, 2.0, Array(Type::f64, {3, 3})}) ==
          "in kernel 'scale all': 'y' is written at the item's own index, but has 3 elements for 4 "
          "items; make the array larger, or launch fewer items");
    CHECK(made(4, {v.x, Array(Type::f32, {1}), v.y}).find("'factor' takes f64") !=
          std::string::npos);
    CHECK(made(4, {v.x, Array(Type::f64, {2}), v.y}) ==
          "in kernel 'scale all': 'factor' takes 1 scalars, but the array has 2; bind a contiguous "
          "array with one element");
    CHECK(made(4, {Array(), 2.0, v.y}) ==
          "in kernel 'scale all': 'x' is given an array without memory; make the array with a "
          "shape first");
    // Larger arrays, and any layout, are fine.
    CHECK(made(4, {Array(Type::f64, {9, 3}, Layout::planar), Array(Type::f64, {1}),
                   Array(Type::f64, {5, 3})}) == "no error");
}

TEST_CASE("launch errors: a number for a buffer, and numbers of the wrong count") {
    const Vectors v;
    CHECK(made(4, {1.0, 2.0, v.y}) ==
          "in kernel 'scale all': 'x' is a buffer, but a number is given; pass an Array");
    CHECK(made(4, {v.x, std::vector<double>{1, 2}, v.y}) ==
          "in kernel 'scale all': 'factor' has 1 components, but 2 numbers are given; give one per "
          "component");
    CHECK(message([] { Argument(std::vector<double>(17)); }) ==
          "a launch parameter of 17 numbers is too large; the limit is 16: pass an array");
}

TEST_CASE("launch errors: numbers that an integer parameter cannot hold") {
    const Array y(Type::i32, {1});
    Launch launch(test::interpreter_device(), count, Precision::f64, 1,
                  {3, std::vector<double>{4, 5}, y}, "count them");
    const std::uint64_t bindings = launch.bindings_version();
    CHECK(message([&] { launch.set("n", 1.5); }) ==
          "in kernel 'count them': 'n': an i32 array cannot hold 1.5; integers from -2147483648 to "
          "2147483647 fit");
    CHECK(message([&] { launch.set("n", std::int64_t{1} << 40); }).find("1099511627776") !=
          std::string::npos);
    CHECK(message([&] {
              launch.set("offset", std::vector<double>{7, 0.5});
          }).find("'offset'") != std::string::npos);
    CHECK(message([&] { launch.set("offset", 7); }).find("has 2 components") != std::string::npos);
    CHECK(launch.bindings_version() == bindings);
    launch.forward().run();
    CHECK(y.value(0) == 12);  // 3 + 4 + 5: nothing was half set
    CHECK(launch.arguments()[0].numbers()[0] == 3);
    launch.set("n", 10);
    CHECK(launch.arguments()[0].numbers()[0] == 10);
    launch.forward().run();
    CHECK(y.value(0) == 19);
}

TEST_CASE("launch errors: an unknown name lists the names, an unknown index their number") {
    Launch launch = Vectors().launch();
    CHECK(message([&] { launch.set("faktor", 1.0); }) ==
          "in kernel 'scale all': there is no parameter 'faktor'; the parameters are x, factor, y");
    for (const int index : {-1, 3})
        CHECK(message([&] { launch.set(index, 1.0); }) ==
              "in kernel 'scale all': there is no parameter " + std::to_string(index) +
                  "; the kernel has 3");
    CHECK(message([&] { launch.gradient_of("z"); }).find("the parameters are x, factor, y") !=
          std::string::npos);
    CHECK(message([&] { launch.gradient_of("x"); }) ==
          "in kernel 'scale all': 'x' is an array; its gradient is array.gradient()");
    const Array y(Type::i32, {1});
    const Launch integers(test::interpreter_device(), count, Precision::f64, 1,
                          {3, std::vector<double>{4, 5}, y});
    CHECK(message([&] { integers.gradient_of("n"); }) ==
          "in kernel 'count': 'n' is an integer, so it has no gradient");
}

TEST_CASE("launch errors: a refused argument leaves the launch as it was") {
    Vectors v;
    v.x.fill(3);
    Launch launch = v.launch();
    const Launch::Replay forward = launch.forward();
    CHECK_THROWS_AS(launch.set("x", Array(Type::f64, {4, 2})), Error);
    CHECK_THROWS_AS(launch.set("x", v.y), Error);  // aliases y
    CHECK_THROWS_AS(launch.set("y", Array(Type::f64, {3, 3})), Error);
    CHECK_THROWS_AS(launch.set("factor", std::vector<double>{1, 2}), Error);
    CHECK(launch.arguments()[0].array().same_memory(v.x));
    CHECK(launch.arrays()[2].same_memory(v.y));
    forward.run();
    CHECK(v.y.to_doubles() == std::vector<double>(12, 6.0));
}

TEST_CASE("launch errors: shared or one per item is decided when the launch is made") {
    const auto device = test::interpreter_device();
    const Array x(Type::f32, {3}), y(Type::f32, {3}), weights(Type::f32, {3});
    const Array one(Type::f64, {1});
    Launch shared(device, weigh, Precision::f32, 3, {2.0, x, y});
    Launch each(device, weigh, Precision::f32, 3, {weights, x, y});
    shared.set("weight", Argument::shared(one));
    shared.set("weight", 3.0);
    each.set("weight", weights.clone());
    const std::string decided = "make another launch: this is decided when a launch is made";
    CHECK(message([&] { shared.set("weight", weights); }) ==
          "in kernel 'weigh': 'weight' holds one value for all items, but an array is given; pass "
          "Argument::shared, or " +
              decided);
    CHECK(message([&] { each.set("weight", 2.0); }) ==
          "in kernel 'weigh': 'weight' holds one value per item, but a number is given; " +
              decided);
    CHECK(message([&] { each.set("weight", Argument::shared(one)); }) ==
          "in kernel 'weigh': 'weight' holds one value per item, but a shared value is given; " +
              decided);
    CHECK(message([&] {
              Launch(device, weigh, Precision::f32, 3, {2.0, Argument::shared(one), y});
          }) ==
          "in kernel 'weigh': 'x' is not a Property, but a shared value is given; pass the array "
          "itself, or declare it Property<T> in the kernel");
    CHECK(message([&] {
              Launch(device, weigh, Precision::f32, 3, {Argument::shared(weights), x, y});
          }) ==
          "in kernel 'weigh': 'weight' takes f64, but the array holds f32; launch parameters and "
          "reductions are f64 in memory in both precisions");
}

TEST_CASE("launch errors: what has a derivative is said before one is made, and truly") {
    const Vectors v;
    Launch launch = v.launch();
    CHECK(message([&] { launch.differentiate_only({"z"}); }).find("no parameter 'z'") !=
          std::string::npos);
    launch.differentiate_only({"x", "y"});
    const Launch::Replay adjoint = launch.adjoint();
    CHECK(message([&] {
              launch.differentiate_only({"factor", "y"});
          }) ==
          "in kernel 'scale all': what varies is said after a derivative of the launch was made; "
          "call differentiate_only() before the first adjoint or tangent");
    CHECK_THROWS_AS(launch.differentiate_only({}), Error);
    launch.differentiate_only({"x", "y"});  // the same
    CHECK(launch.has_derivative());

    Launch constant = v.launch();
    constant.differentiate_only({});
    CHECK(!constant.has_derivative());
    CHECK(message([&] { constant.adjoint(); }) ==
          "in kernel 'scale all': the launch has no derivative; name what varies in "
          "differentiate_only(), or do not call it");
    const Array y(Type::i32, {1});
    Launch integers(test::interpreter_device(), count, Precision::f64, 1,
                    {3, std::vector<double>{4, 5}, y});
    CHECK(message([&] { integers.differentiate_only({"n"}); }) ==
          "in kernel 'count': 'n' holds integers, so it has no derivative; name real parameters "
          "only");
}

TEST_CASE("launch errors: a fault in a launch names the launch, in every direction") {
    const KernelDef pick = kernel("pick", {"x", "index", "y"},
                                  [](Int i, Read<Float> x, Read<Int> index, Write<Float> y) {
                                      y[i] = x[index[i]] * x[index[i]];
                                  });
    const Array x(Type::f64, {2}), y(Type::f64, {3});
    const Array index = Array::from(std::vector<double>{0, 1, 5}, Type::i32, {3});
    for (const bool compiled : {false, true}) {
        if (compiled && !test::has_cpu_device()) continue;
        const auto device = std::make_shared<Device>(
            DeviceOptions{.kind = compiled ? DeviceKind::cpu : DeviceKind::interpreter,
                          .threads = 1,
                          .checked = true});
        CAPTURE(device->describe());
        const Launch launch(device, pick, Precision::f64, 3, {x, index, y}, "pick the pieces");
        const std::uint64_t version = y.version();
        for (const Launch::Replay& replay :
             {launch.forward(), launch.adjoint(), launch.replay(Direction::tangent)}) {
            const std::string what = message([&] { replay.run(); });
            CAPTURE(what);
            CHECK(what.find("in the launch 'pick the pieces'") != std::string::npos);
            CHECK(what.find("index 5 is out of range: 'x' has 2 elements") != std::string::npos);
            CHECK(what.find("item 2") != std::string::npos);
        }
        // What a failed launch wrote is undefined: nobody may take it for the old version.
        CHECK(y.version() > version);
    }
}
