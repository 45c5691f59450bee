// What launches leave out: items whose results are there already, because what they read was zero
// before and is now. The bits are those of the interpreter, which leaves nothing out; that an item
// was left out shows where its result is changed behind the launch's back.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/launch/launch_state.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using Values = std::vector<double>;

namespace {

constexpr std::int64_t points = 3000, nodes = 6000;

// Points that add to a grid, what becomes of a node, and points that read it again.
const KernelDef deposit = kernel("deposit", {"cell", "mass", "grid"},
                                 [](Int i, Read<Float> cell, Read<Float> mass, Sum<Vec2> grid) {
                                     grid[Int(cell[i])] += Vec2(mass[i], 1.0);
                                 });
const KernelDef weigh = kernel(
    "weigh", {"grid", "pull", "u"}, [](Int i, Read<Vec2> grid, Param<Float> pull, Write<Vec2> u) {
        const Vec2 here = grid[i];
        u[i] = Vec2(here.x() / (here.y() + 0.5) + pull.value(), Float(i % Int(7)) - here.x());
    });
const KernelDef collect = kernel("collect", {"cell", "u", "value"},
                                 [](Int i, Read<Float> cell, Read<Vec2> u, Write<Float> value) {
                                     const Vec2 there = u[Int(cell[i])];
                                     value[i] = there.x() * there.y();
                                 });

struct Chain {
    Array cell{Type::f32, {points}}, mass{Type::f32, {points}}, grid{Type::f32, {nodes, 2}},
        u{Type::f32, {nodes, 2}}, value{Type::f32, {points}};
    Launch in, over, out;
    std::vector<Launch::Replay> replays;

    explicit Chain(const std::shared_ptr<Device>& device, const KernelDef& first = deposit)
        : in(device, first, Precision::f32, points, {cell, mass, grid}),
          over(device, weigh, Precision::f32, nodes, {grid, 0.25, u}),
          out(device, collect, Precision::f32, points, {cell, u, value}) {
        in.differentiate_only({"mass"});
        over.differentiate_only({"grid"});  // the gradient of a number takes all items
        out.differentiate_only({"u"});
        replays = {in.forward(),  over.forward(), out.forward(),
                   out.adjoint(), over.adjoint(), in.adjoint()};
    }

    // The points stand on `width` nodes from `first` on.
    void place(std::int64_t first, std::int64_t width) const {
        for (std::int64_t k = 0; k < points; ++k) {
            cell.set_value(k, 0, static_cast<double>(first + k * 7 % width));
            mass.set_value(k, 0, static_cast<double>(k % 13) - 4.5);
        }
    }
    void run(backend::DeferredWork* deferred = nullptr) const {
        value.gradient().fill(0.75);
        for (const Launch::Replay& r : replays) r.bound().run({}, deferred);
    }
    // Every bit of every array, one vector for each.
    std::vector<std::vector<unsigned char>> bits() const {
        std::vector<std::vector<unsigned char>> list;
        for (const Array& a :
             {grid, u, value, mass.gradient(), grid.gradient(), u.gradient(), value.gradient()}) {
            const auto* const data = static_cast<const unsigned char*>(a.data());
            list.emplace_back(data, data + a.size() * 4);
        }
        return list;
    }
};

// What the host's memory has there, without a word to the array.
float& behind_the_back(const Array& array, std::int64_t element, int component) {
    return static_cast<float*>(array.data())[element * array.components() + component];
}

}  // namespace

TEST_CASE("idle items: the bits of a device that leaves nothing out") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("there is no compiler for the processor");
    for (const int threads : {1, 2}) {
        const Chain ours(std::make_shared<Device>(DeviceOptions{.threads = threads})),
            theirs(test::interpreter_device());
        const Chain* const both[] = {&ours, &theirs};
        const auto same = [&](const char* when) {
            CAPTURE(when);
            for (const Chain* chain : both) chain->run();
            const auto a = ours.bits(), b = theirs.bits();
            for (std::size_t k = 0; k < a.size(); ++k) {
                CAPTURE(k);
                CHECK(a[k] == b[k]);
            }
        };
        const auto all = [&](const auto& change) {
            for (const Chain* chain : both) change(*chain);
        };
        const auto place = [&](std::int64_t first, std::int64_t width) {
            all([&](const Chain& c) { c.place(first, width); });
        };
        for (const std::int64_t first : {0, 100, 2100, 2200, 5500, 5700, 300}) {
            place(first, 300);
            same("points move");
            same("points stand still");
        }
        all([](const Chain& c) { Launch(c.over).set("pull", -1.5); });
        same("a number is another");
        place(500, 2);
        same("few nodes");
        all([](const Chain& c) { c.u.set_value(5000, 1, 8); });
        same("the host writes a result");
        all([](const Chain& c) { c.grid.fill(3); });
        same("the host writes a sum");
        all([](const Chain& c) { c.u.gradient().set_value(4000, 0, 2); });
        same("the host writes a gradient");
        all([](const Chain& c) { c.grid.gradient().fill(1); });
        same("the host fills a gradient");
        same("as before");
        all([](const Chain& c) { c.u.clear(), c.u.gradient().clear(), c.grid.clear(); });
        same("the host clears what is there");
        place(0, nodes);
        same("everywhere");
        all([](const Chain& c) {
            c.mass.set_value(7, 0, std::numeric_limits<double>::infinity());
        });
        same("infinite");
        place(1000, 50);
        same("finite again");
        all([](const Chain& c) { Launch(c.over).set("grid", c.u.clone()); });
        same("another array");
    }
}

TEST_CASE("idle items: are left alone, others are not") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("there is no compiler for the processor");
    const Chain chain(test::cpu_device());
    chain.place(1000, 200);
    chain.run();
    CHECK(chain.u.value(3000, 0) == 0.25);
    // What a launch left is taken for its result.
    behind_the_back(chain.u, 3000, 0) = 77;
    behind_the_back(chain.u, 1100, 0) = 77;
    chain.run();
    CHECK(chain.u.value(3000, 0) == 77);
    CHECK(chain.u.value(1100, 0) != 77);
    // So it is in the sums, their gradients, and those of what is made of them.
    for (const Array& a : {chain.grid, chain.grid.gradient(), chain.u.gradient()})
        behind_the_back(a, 3000, 1) = 5;
    chain.run();
    for (const Array& a : {chain.grid, chain.grid.gradient(), chain.u.gradient()})
        CHECK(a.value(3000, 1) == 5);
    // Said aloud, it is seen.
    chain.grid.touch(), chain.u.touch(), chain.u.gradient().touch(), chain.grid.gradient().touch();
    chain.u.gradient().clear(), chain.grid.gradient().clear();
    chain.run();
    CHECK(chain.u.value(3000, 0) == 0.25);
    CHECK(chain.grid.value(3000, 1) == 0);
    // Where the points have been is worked on once more.
    chain.place(4000, 200);
    behind_the_back(chain.u, 1100, 0) = 77;
    chain.run();
    CHECK(chain.u.value(1100, 0) == 0.25);
}

TEST_CASE("idle items: what does not keep zeros runs everywhere") {
    const KernelDef count =
        kernel("count", {"x", "total"}, [](Int i, Read<Float> x, ReadWrite<Float> total) {
            total[i] = total[i] + x[i] + select(i == Int(1999), Float(1), Float(0));
        });
    const KernelDef invert = kernel(
        "invert", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = 1.0 / x[i]; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x(Type::f64, {2000}), total(Type::f64, {2000}), y(Type::f64, {2000});
        const Launch counting(device, count, Precision::f64, 2000, {x, total}),
            inverting(device, invert, Precision::f64, 2000, {x, y});
        for (int n = 1; n <= 3; ++n) {
            counting.forward().run();
            CHECK(total.value(1999) == n);
            CHECK(total.value(7) == 0);
        }
        for (int n = 1; n <= 3; ++n) {
            inverting.forward().run();
            CHECK(std::isinf(y.value(1234)));
            CHECK(y.value(3) == (n == 3 ? 0.5 : std::numeric_limits<double>::infinity()));
            if (n == 2) x.set_value(3, 0, 2);
        }
        // A gradient of 0 times infinity is not zero, wherever it is.
        y.gradient().set_value(3, 0, 1);
        for (int n = 0; n < 2; ++n) {
            inverting.adjoint().run();
            CHECK(x.gradient().value(3) == -0.25);
            CHECK(y.gradient().value(3) == 0);
        }
    }
}

TEST_CASE("idle items: in the rows of a grid, columns without points") {
    // Points add to 2 x 3 nodes and read one of them; rows have 100 nodes, and what stands at the
    // end of one adds to the next.
    constexpr std::int64_t row = 100;
    const KernelDef spread =
        kernel("spread", {"cell", "mass", "grid"},
               [](Int i, Read<Float> cell, Read<Float> mass, Sum<Vec2> grid) {
                   for (int k = 0; k < 2; ++k)
                       for (int l = 0; l < 3; ++l)
                           grid[Int(cell[i]) + Int(static_cast<int>(row * k + l))] +=
                               Vec2(mass[i] * (1.0 + k), 1.0 + l);
               });
    if (!test::has_cpu_device()) HINDCAST_SKIP("there is no compiler for the processor");
    for (const int threads : {1, 2})
        for (const bool deferring : {false, true}) {
            ThreadPool pool(threads);
            const Chain ours(std::make_shared<Device>(DeviceOptions{.threads = threads}), spread),
                theirs(test::interpreter_device(), spread);
            const auto same = [&](std::int64_t first_row, std::int64_t rows, std::int64_t column,
                                  std::int64_t columns) {
                CAPTURE(first_row);
                CAPTURE(column);
                for (const Chain* c : {&ours, &theirs})
                    for (std::int64_t k = 0; k < points; ++k) {
                        c->cell.set_value(k, 0,
                                          static_cast<double>((first_row + k % rows) * row +
                                                              column + k / rows % columns));
                        c->mass.set_value(k, 0, static_cast<double>(k % 13) - 4.5);
                    }
                for (int n = 0; n < 2; ++n) {
                    backend::DeferredWork deferred(&pool);
                    ours.run(deferring ? &deferred : nullptr);
                    deferred.run();
                    theirs.run();
                    const auto a = ours.bits(), b = theirs.bits();
                    for (std::size_t k = 0; k < a.size(); ++k) {
                        CAPTURE(k);
                        CHECK(a[k] == b[k]);
                    }
                }
            };
            same(10, 30, 20, 15);
            const backend::ActiveRange& busy = ours.grid.contents().busy;
            CHECK(busy.begin == 10 * row + 20);
            CHECK(busy.end == 40 * row + 37);
            CHECK(busy.columns.period == row);
            CHECK(busy.columns.begin == 20);
            CHECK(busy.columns.end == 37);
            // What stands beside is left alone where deferred go over columns, and only there.
            if (deferring) {
                behind_the_back(ours.u, 20 * row + 80, 0) = 77;
                backend::DeferredWork deferred(&pool);
                ours.run(&deferred);
                deferred.run();
                CHECK(ours.u.value(20 * row + 80, 0) == 77);
                behind_the_back(ours.u, 20 * row + 80, 0) = 0.25;
            }
            same(12, 30, 60, 10);  // elsewhere
            CHECK(ours.grid.contents().busy.columns.begin == 60);
            same(12, 30, 2, 70);
            same(5, 40, 0, 98);  // nearly all
            CHECK(ours.grid.contents().busy.columns.period == 0);
            same(20, 20, 90, 9);  // the last node of a row, and the first ones of the next
            CHECK(ours.grid.contents().busy.columns.period == 0);
            same(20, 20, 40, 1);
            CHECK(ours.grid.contents().busy.columns.begin == 40);
        }
}

TEST_CASE("array: what is known of it ends with the next write") {
    const Array a(Type::f32, {100, 3});
    CHECK(a.contents().is_idle());
    CHECK(a.contents().busy.end == 0);
    const auto writes = {
        +[](const Array& b) { b.fill(0); }, +[](const Array& b) { b.set_value(3, 1, 0); },
        +[](const Array& b) { b.touch(); }, +[](const Array& b) { b.assign(Values(300)); },
        +[](const Array& b) { b.copy_from(b.clone()); }};
    for (const auto write : writes) {
        a.know({20, 40});
        CHECK(a.contents().is_idle());
        CHECK(!a.contents().is_idle(1));
        write(a);
        CHECK(!a.contents().is_idle());
    }
    a.know({20, 40}, 9);
    CHECK(!a.contents().is_idle());
    CHECK(a.contents().is_idle(9));
    // Memory that something else owns may be written without a word.
    AlignedBuffer<std::byte> block(400);
    const Array over = Array::over(block.span(), nullptr, Type::f32, {100});
    CHECK(!over.contents().is_idle());
    over.know({20, 40});
    CHECK(!over.contents().is_idle());
    // Cleared is what may not be zero.
    a.fill(1);
    a.clear();
    CHECK(a.contents().is_idle());
    CHECK(a.to_doubles() == Values(300));
    behind_the_back(a, 60, 0) = 1;
    behind_the_back(a, 30, 2) = 1;
    a.know({20, 40});
    a.clear();
    CHECK(a.value(60) == 1);
    CHECK(a.value(30, 2) == 0);
}
