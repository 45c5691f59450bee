// Indices out of range: array lengths when a launch is recorded, all other indices when it runs
// after check_indices(). Every back end names the array, the index and the lowest item.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/runtime/launch/check_indices.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using hindcast::test::array;
using hindcast::test::message;
using ir::Precision;
using ir::Type;
using Values = std::vector<double>;

namespace {

Array integers(const std::vector<std::int64_t>& values) {
    Array list(Type::i32, {static_cast<std::int64_t>(values.size())});
    list.assign_integers(values);
    return list;
}

bool has(const std::string& text, const std::string& words) {
    INFO(text);
    INFO(words);
    return text.find(words) != std::string::npos;
}

const KernelDef copy =
    kernel("copy", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i]; });
const KernelDef gather =
    kernel("gather", {"j", "x", "y"},
           [](Int i, Read<Int> j, Read<Float> x, Write<Float> y) { y[i] = x[j[i]]; });

}  // namespace

TEST_CASE("launch lengths: an array that is read beyond its end is refused when recorded") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array three = array({1, 2, 3}), eight = array(Values(8, 0.0));
        CHECK(has(message([&] {
                      Launch(device, copy, Precision::f64, 8, {three, eight});
                  }),
                  "in kernel 'copy': 'x' is read at the item's own index, but has 3 elements for 8 "
                  "items; make the array larger, or launch fewer items"));
        Launch launch(device, copy, Precision::f64, 3, {three, eight});
        launch.forward().run();
        CHECK(eight.to_doubles() == Values{1, 2, 3, 0, 0, 0, 0, 0});
        CHECK(has(message([&] {
                      launch.set("x", array({1, 2}));
                  }),
                  "'x' is read at the item's own"));
        launch.forward().run();  // with the array of before
        CHECK_NOTHROW(Launch(device, copy, Precision::f64, 0, {array(Values{}), eight}));
    }
}

TEST_CASE("launch lengths: indices a + b * item, at either end, and constants") {
    const auto shifted = [](int factor, int offset) {
        return kernel("shifted", {"x", "y"},
                      [=](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i * factor + offset]; });
    };
    const auto refusal = [&](int factor, int offset, std::size_t elements, std::int64_t items) {
        return message([&] {
            Launch(test::interpreter_device(), shifted(factor, offset), Precision::f64, items,
                   {array(Values(elements, 1.0)),
                    array(Values(static_cast<std::size_t>(items), 0.0))});
        });
    };
    // The first item that leaves, by hand: x[i + 1] of 5 at i = 4, x[i - 1] at 0, x[3 i + 2] of 9 at
    // 3 (11), x[6 - 2 i] at 4 (-2), x[7] of 7 at 0.
    CHECK(has(refusal(1, 1, 5, 6), "index 5 by item 4, but has 5 elements for 6 items"));
    CHECK(has(refusal(1, -1, 5, 3), "index -1 by item 0"));
    CHECK(has(refusal(3, 2, 9, 4), "index 11 by item 3"));
    CHECK(has(refusal(-2, 6, 7, 5), "index -2 by item 4"));
    CHECK(has(refusal(0, 7, 7, 2), "index 7 by item 0"));
    CHECK(has(refusal(1 << 20, 0, 7, 4000), "index 1048576 by item 1"));
    CHECK(refusal(1, 1, 6, 5) == "no error");
    CHECK(refusal(3, 2, 12, 4) == "no error");
    CHECK(refusal(-2, 6, 7, 4) == "no error");
    CHECK(refusal(0, 6, 7, 2) == "no error");
}

TEST_CASE("launch lengths: what stands under a condition is not reached by every item") {
    const KernelDef guarded =
        kernel("guarded", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
            Float s = 0;
            if_(i > 0, [&] { s = x[i - 1]; });
            y[i] = s;
        });
    const KernelDef some =
        kernel("some", {"c", "x", "y"}, [](Int i, Read<Float> c, Read<Float> x, Write<Float> y) {
            Float s = 0;
            if_(c[i] > 0.5, [&] { s = x[i] * x[i]; });
            y[i] = s;
        });
    // A sum of own elements is loaded and stored for all items.
    const KernelDef adds = kernel(
        "adds", {"x", "y"},
        [](Int i, Read<Float> x, Accumulate<Float> y) { if_(x[i] > 0.0, [&] { y[i] += 1.0; }); });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 2, 3}), y = array({9, 9, 9, 9});
        Launch launch(device, guarded, Precision::f64, 4, {x, y});
        check_indices(launch);
        launch.forward().run();
        CHECK(y.to_doubles() == Values{0, 1, 2, 3});
        // So is the derivative of own elements, if some item reads them.
        const Array short_x = array({1, 2});
        Launch partly(device, some, Precision::f64, 3, {array({1, 1, 0}), short_x, y});
        check_indices(partly);
        partly.forward().run();
        CHECK(y.to_doubles() == Values{1, 4, 0, 3});
        CHECK(has(message([&] { partly.adjoint(); }),
                  "a derivative of 'x' is added to at the item's own index, but has 2 elements"));
        CHECK(has(message([&] {
                      Launch(device, adds, Precision::f64, 3, {x, array({0, 0})});
                  }),
                  "'y' is added to at the item's own index, but has 2 elements for 3 items"));
    }
}

TEST_CASE("check_indices: a gather names item, index and array, in every direction") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array j = integers({0, 2, 1 << 20, -1}), x = array({1, 2, 3}),
                    y = array(Values(4, 0.0));
        Launch launch(device, gather, Precision::f64, 4, {j, x, y});
        check_indices(launch);
        const auto run = [&](Direction direction) {
            return message([&] {
                launch.replay(direction).run();
                device->settle();
            });
        };
        CHECK(has(run(Direction::forward),
                  "item 2: index 1048576 is out of range: 'x' has 3 elements"));
        CHECK(has(run(Direction::tangent), "index 1048576 is out of range"));
        CHECK(has(run(Direction::adjoint), "index 1048576 is out of range"));
        j.assign_integers(std::vector<std::int64_t>{0, 2, 1, -1});
        CHECK(has(run(Direction::forward), "item 3: index -1 is out of range"));
        j.assign_integers(std::vector<std::int64_t>{0, 2, 1, 2});
        CHECK(run(Direction::forward) == "no error");
        CHECK(y.to_doubles() == Values{1, 3, 2, 3});
        y.gradient().assign(Values{1, 2, 4, 8});
        CHECK(run(Direction::adjoint) == "no error");
        CHECK(x.gradient().to_doubles() == Values{1, 4, 10});
    }
}

TEST_CASE("check_indices: sums, counters, stores and conditions") {
    const KernelDef adds =
        kernel("adds", {"j", "x", "y"},
               [](Int i, Read<Int> j, Read<Float> x, Accumulate<Float> y) { y[j[i]] += x[i]; });
    const KernelDef counts =
        kernel("counts", {"j", "y"}, [](Int i, Read<Int> j, Atomic<Int> y) { y[j[i]].add(1); });
    const KernelDef stores = kernel(
        "stores", {"j", "x", "y"},
        [](Int i, Read<Int> j, Read<Float> x, WriteSlice<Float> y) { y.store_once(j[i], x[i]); });
    // Reads x[j[i]] where x[i] says so, which only the kernel knows.
    const KernelDef chooses =
        kernel("chooses", {"j", "x", "y"}, [](Int i, Read<Int> j, Read<Float> x, Write<Float> y) {
            Float s = 0;
            if_(x[i] > 1.5, [&] { s = x[j[i]]; });
            y[i] = s;
        });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array bad = integers({1, 0, 4}), good = integers({2, 0, 1}), x = array({1, 2, 3});
        const auto run = [&](const KernelDef& k, std::vector<Argument> arguments) {
            Launch launch(device, k, Precision::f64, 3, std::move(arguments));
            check_indices(launch);
            return message([&] {
                launch.forward().run();
                device->settle();
            });
        };
        const Array y = array({10, 20, 30}), n = integers({0, 0, 0});
        const char* const fault = "item 2: index 4 is out of range: 'y' has 3 elements";
        CHECK(has(run(adds, {bad, x, y}), fault));
        CHECK(has(run(counts, {bad, n}), fault));
        CHECK(has(run(stores, {bad, x, y}), fault));
        y.assign(Values{10, 20, 30});
        CHECK(run(adds, {good, x, y}) == "no error");
        CHECK(y.to_doubles() == Values{12, 23, 31});
        n.assign_integers(std::vector<std::int64_t>{0, 0, 0});
        CHECK(run(counts, {good, n}) == "no error");
        CHECK(n.to_doubles() == Values{1, 1, 1});
        CHECK(run(stores, {good, x, y}) == "no error");
        CHECK(y.to_doubles() == Values{2, 3, 1});
        CHECK(
            has(run(chooses, {bad, x, y}), "item 2: index 4 is out of range: 'x' has 3 elements"));
        // Item 0 does not read its index.
        CHECK(run(chooses, {integers({4, 0, 1}), x, y}) == "no error");
        CHECK(y.to_doubles() == Values{0, 1, 2});
    }
}

TEST_CASE("check_indices: indices that change before every run are found all the same") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array j = integers({0, 1, 2}), x = array({1, 2, 3}), y = array(Values(3, 0.0));
        Launch launch(device, gather, Precision::f64, 3, {j, x, y});
        check_indices(launch);
        for (std::int64_t k = 0; k < 20; ++k) {
            j.assign_integers(std::vector<std::int64_t>{k % 3, 1, k % 7 == 6 ? 3 + k : 2});
            const std::string text = message([&] {
                launch.forward().run();
                device->settle();
            });
            if (k % 7 == 6) {
                CHECK(has(text, "item 2: index " + std::to_string(3 + k) + " is out of range"));
                continue;
            }
            CHECK(text == "no error");
            CHECK(y.to_doubles() == Values{static_cast<double>(k % 3 + 1), 2, 3});
        }
    }
}
