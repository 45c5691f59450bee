// Mistakes in kernels that are found while they are traced or differentiated. Each error names the
// kernel, the line of the statement, the thing, and what to do. Faults while running:
// test_kernel_faults.cpp; what does not compile: test_kernel_refusals.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "engine/ad/differentiate.hpp"
#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;

namespace {

// HERE(statement;) remembers the line of the statement that is to be named.
int here = 0;
#define HERE(...)    \
    here = __LINE__; \
    __VA_ARGS__

constexpr int no_place = -1;

struct Expected {
    std::vector<std::string> words;
    int line = 0;  // 0: the statement marked HERE; no_place for a reason given with the test
    std::string kernel = "k";
};

void check_error(const std::function<void()>& action, const Expected& expected) {
    here = 0;
    try {
        action();
    } catch (const Error& e) {
        const std::string text = e.what();
        INFO(text);
        for (const std::string& word : expected.words) {
            INFO(word);
            CHECK(text.find(word) != std::string::npos);
        }
        CHECK(e.kernel() == expected.kernel);
        const int line = expected.line == 0 ? here : std::max(expected.line, 0);
        CHECK(e.place().line == line);
        if (e.place().line > 0) CHECK(e.place().file == "tests/errors/test_kernel_errors.cpp");
        CHECK(!e.what_to_do().empty());
        CHECK(text.find("internal") == std::string::npos);
        return;
    }
    FAIL_CHECK("no error: " << expected.words.front());
}

// Tracing `def` fails with these words, at the statement marked HERE.
void check_trace(const KernelDef& def, const std::vector<std::string>& words) {
    check_error([&] { def.trace(Precision::f64); }, {words});
}

void check_adjoint(const KernelDef& def, const std::vector<std::string>& words, int line) {
    const ir::Kernel k = def.trace(Precision::f64);
    check_error([&] { ad::adjoint(k); }, {words, line, "k.a1"});
}

}  // namespace

// ---- own elements

TEST_CASE("a written buffer used at a foreign index") {
    check_trace(kernel("k", {"y"},
                       [](Int i, ReadWrite<Float> y) {
                           y[i] = 1;
                           HERE(y[i] += y[i + 1];)
                       }),
                {"'y'", "not the item's own", "injective"});
    check_trace(kernel("k", {"y"}, [](Int, ReadWrite<Float> y) { HERE(y[0] = 1;) }),
                {"'y'", "not the item's own"});
    check_trace(
        kernel("k", {"n", "y"}, [](Int i, Read<Int> n, Write<Float> y) { HERE(y[n[i]] = 1;) }),
        {"'y'", "not the item's own"});
}

TEST_CASE("two different own indices") {
    check_trace(kernel("k", {"y"},
                       [](Int i, ReadWrite<Float> y) {
                           y[i] = 1;
                           const Int other = injective(7 - i);
                           HERE(y[other] = 2;)
                       }),
                {"'y'", "two different own indices", "WriteSlice"});
}

TEST_CASE("an own index computed inside a branch or loop") {
    check_trace(kernel("k", {"n", "y"},
                       [](Int i, Read<Int> n, ReadWrite<Float> y) {
                           if_(n[i] > 0, [&] {
                               const Int j = injective(n[i] + i);
                               HERE(y[j] = 1;)
                           });
                       }),
                {"own index of 'y'", "inside a branch or loop", "top of the kernel"});
    check_trace(kernel("k", {"n", "y"},
                       [](Int i, Read<Int> n, Write<Float> y) {
                           for_(0, n[i], [&](Int k) {
                               const Int j = injective(i * 8 + k);
                               HERE(y[j] = 1;)
                           });
                       }),
                {"own index of 'y'", "inside a branch or loop", "WriteSlice"});
}

TEST_CASE("an own index assigned in the loop that uses it") {
    // Found when the loop closes, because a later statement assigns the index: the loop is named.
    check_trace(kernel("k", {"n", "y"},
                       [](Int i, Read<Int> n, ReadWrite<Float> y) {
                           Int j = i;
                           const Int trips = n[i];
                           HERE(for_(0, trips, [&](Int) {
                                    y[j] += 1;
                                    j += 1;
                                });)
                       }),
                {"own index", "assigned inside the loop", "copy the index"});
}

TEST_CASE("Write: stored on some paths only, in part, or read before it is stored") {
    check_trace(kernel("k", {"x", "y"},
                       [](Int i, Read<Float> x, Write<Float> y) {
                           HERE(if_(x[i] > 0, [&] { y[i] = 1; });)
                       }),
                {"'y'", "not stored on every path", "ReadWrite"});
    check_trace(kernel("k", {"n", "y"},
                       [](Int i, Read<Int> n, Write<Float> y) {
                           HERE(for_(0, n[i], [&](Int) { y[i] = 1; });)
                       }),
                {"'y'", "not stored on every path", "ReadWrite"});
    check_trace(kernel("k", {"x", "y"},
                       [](Int i, Read<Float> x, Write<Vec3> y) {
                           y[i].x() = x[i];
                           HERE(y[i].z() = x[i];)
                       }),
                {"'y'", "2 of its 3 components", "ReadWrite"});
    check_trace(
        kernel("k", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { HERE(y[i] += x[i];) }),
        {"'y'", "read before it is stored", "ReadWrite"});
    // Nothing is stored at all: no statement to name.
    check_trace(kernel("k", {"y"}, [](Int, Write<Float>) {}), {"'y'", "0 of its 1 components"});
}

TEST_CASE("components that do not exist") {
    const auto no_remedy = [](const KernelDef& def, const std::string& words) {
        try {
            here = 0;
            def.trace(Precision::f64);
            FAIL_CHECK("no error");
        } catch (const Error& e) {
            CHECK_MESSAGE(e.happened().find(words) != std::string::npos, e.what());
            CHECK(e.place().line == here);
            CHECK(e.kernel() == "k");
        }
    };
    no_remedy(kernel("k", {"x", "y"},
                     [](Int i, Read<Vec3> x, Write<Float> y) { HERE(y[i] = (x[i] + x[i])[3];) }),
              "a vector of 3 has no component 3");
    no_remedy(kernel("k", {"y"}, [](Int i, ReadWrite<Vec2> y) { HERE(y[i][2] = 1;) }),
              "no component 2");
    no_remedy(kernel("k", {"y"}, [](Int i, Accumulate<Vec2> y) { HERE(y[i].z() += 1;) }),
              "no component 2");
    no_remedy(kernel("k", {"m", "y"},
                     [](Int i, Read<Mat2> m, Write<Float> y) { HERE(y[i] = (m[i] + m[i])(0, 2);) }),
              "no element (0, 2)");
}

// ---- control flow

TEST_CASE("while_ without max_trips, negative max_trips, constant trips beyond the limit") {
    check_trace(kernel("k", {"y"},
                       [](Int i, ReadWrite<Float> y) {
                           HERE(while_([&] { return y[i] > 1.0; }, [&] { y[i] *= 0.5; }, 0);)
                       }),
                {"while_ has no max_trips"});
    check_trace(kernel("k", {"y"},
                       [](Int i, ReadWrite<Float> y) {
                           HERE(for_(
                                    0, 3, [&](Int) { y[i] *= 0.5; }, -1);)
                       }),
                {"max_trips is negative"});
    check_trace(kernel("k", {"y"},
                       [](Int i, ReadWrite<Float> y) {
                           HERE(for_(
                                    0, 30, [&](Int) { y[i] *= 0.5; }, 20);)
                       }),
                {"30 trips", "max_trips of 20"});
}

TEST_CASE("the condition of a while_ assigns or has an effect") {
    check_trace(kernel("k", {"x", "y"},
                       [](Int i, Read<Float> x, Write<Float> y) {
                           Float s = x[i];
                           while_(
                               [&] {
                                   HERE(s += 1.0;)
                                   return s < 5;
                               },
                               [&] { s *= 2.0; }, 10);
                           y[i] = s;
                       }),
                {"condition of a while_", "assign in the body"});
    check_trace(kernel("k", {"x", "f"},
                       [](Int i, Read<Float> x, Accumulate<Float> f) {
                           Float s = x[i];
                           while_(
                               [&] {
                                   HERE(f[i] += s;)
                                   return s < 5;
                               },
                               [&] { s *= 2.0; }, 10);
                       }),
                {"condition of a while_"});
    // Also after a loop inside the condition.
    check_trace(kernel("k", {"x", "y"},
                       [](Int i, Read<Float> x, Write<Float> y) {
                           Float s = x[i];
                           while_(
                               [&] {
                                   Int k = 0;
                                   while_([&] { return k < 2; }, [&] { k += 1; }, 3);
                                   HERE(s += 1.0;)
                                   return s < 5;
                               },
                               [&] { s *= 2.0; }, 10);
                           y[i] = s;
                       }),
                {"condition of a while_"});
}

TEST_CASE("rule 3: a variable used outside the region that declared it: both lines are named") {
    int declared = 0;
    const auto def = kernel("k", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        std::vector<Float> kept;
        kept.reserve(1);
        if_(x[i] > 0, [&] {
            declared = __LINE__ + 1;
            kept.push_back(x[i] * 2.0);
        });
        HERE(y[i] = kept[0] + 1.0;)
    });
    check_trace(def, {"declared inside a branch or loop", "used outside"});
    check_error(
        [&] { def.trace(Precision::f64); },
        {{"test_kernel_errors.cpp:" + std::to_string(declared), "before the if_, for_ or while_"}});

    // A plain copy or assignment has no place of its own in C++: the last statement that has one is
    // named.
    check_trace(kernel("k", {"n", "y"},
                       [](Int i, Read<Int> n, Write<Float> y) {
                           std::optional<Float> leaked;
                           y[i] = 0;
                           for_(0, n[i], [&](Int k) { leaked.emplace(Float(k)); });
                           HERE(Float other = 1.0 + *leaked;)
                           y[i] = other;
                       }),
                {"declared inside a branch or loop"});
}

TEST_CASE("the adjoint must store values per trip of a loop without a limit") {
    int loop = 0, declared = 0;
    const auto def =
        kernel("k", {"x", "n", "y"}, [&](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            declared = __LINE__ + 1;
            Float speed = (x[i] * 2.0).name("speed");
            loop = __LINE__ + 1;
            for_(0, n[i], [&](Int) { speed = speed * speed; });
            y[i] = speed;
        });
    def.trace(Precision::f64);  // fine until it is differentiated
    check_adjoint(def,
                  {"must store values per trip", "max_trips", "'speed' (f64)",
                   "test_kernel_errors.cpp:" + std::to_string(declared)},
                  loop);
    CHECK_NOTHROW(ad::tangent(def.trace(Precision::f64)));
}

TEST_CASE("a tape beyond the limit names the variable and what it costs") {
    int loop = 0;
    const auto def = kernel("k", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        Float speed = (x[i] * 2.0).name("speed");
        loop = __LINE__ + 1;
        for_(0, 40000, [&](Int) { speed = speed * speed; });
        y[i] = speed;
    });
    def.trace(Precision::f64);
    check_adjoint(def,
                  {"40000 f64 values per work item", "320000 bytes",
                   std::to_string(ad::tape_limit_bytes), "'speed'", "split the loop"},
                  loop);
    const auto below = kernel("k", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        Float speed = x[i];
        for_(0, 30000, [&](Int) { speed = speed * speed; });
        y[i] = speed;
    });
    CHECK_NOTHROW(ad::adjoint(below.trace(Precision::f64)));
}

// ---- builders

TEST_CASE("a value of another kernel") {
    std::optional<Float> leaked;
    const auto first = kernel("first", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        leaked.emplace(x[i]);
        y[i] = *leaked;
    });
    first.trace(Precision::f64);
    check_trace(kernel("k", {"y"}, [&](Int i, Write<Float> y) { HERE(y[i] = 1.0 + *leaked;) }),
                {"value of another kernel", "capture host numbers only"});
    check_trace(kernel("k", {"y"},
                       [&](Int i, Write<Float> y) {
                           const Float mine = Float(1.0) + 1.0;
                           HERE(y[i] = mine;)
                           // An assignment has no place: the statement before is named.
                           *leaked = mine;
                       }),
                {"value of another kernel"});
}

TEST_CASE("a lambda that captures a traced variable from outside") {
    // A kernel defined while another is traced, capturing its variable.
    const auto outer = kernel("outer", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        const Float captured = x[i];
        const auto inner =
            kernel("k", {"z"}, [&captured](Int j, Write<Float> z) { HERE(z[j] = 2.0 * captured;) });
        inner.trace(Precision::f64);
        y[i] = captured;
    });
    check_error([&] { outer.trace(Precision::f64); },
                {{"value of another kernel", "pass what changes as a parameter"}});
}

TEST_CASE("a traced value with no kernel being traced") {
    check_error([] { HERE(const Float x(1.0);) },
                {{"no kernel is being traced", "inside the lambda"}, 0, ""});
    // A default constructor has no place of its own, and what a vector makes is not placed in
    // vector.hpp.
    check_error([] { const Int k; }, {{"no kernel is being traced"}, no_place, ""});
    check_error([] { Vec3 v(1.0, 2.0, 3.0); }, {{"no kernel is being traced"}, no_place, ""});
    // Another thread does not see the kernel being traced on this one.
    std::string other;
    kernel("k", {"y"}, [&](Int i, Write<Float> y) {
        std::thread([&] {
            try {
                const Float x(1.0);
            } catch (const Error& e) {
                other = e.what();
            }
        }).join();
        y[i] = 0;
    }).trace(Precision::f64);
    CHECK(other.find("no kernel is being traced on this thread") != std::string::npos);
}

TEST_CASE("an exception thrown inside a region") {
    struct Mishap {};
    const auto thrower = [](const std::function<void(const std::function<void()>&)>& guard) {
        return kernel("k", {"x", "y"}, [guard](Int i, Read<Float> x, Write<Float> y) {
            Float s = x[i];
            guard([&] {
                for_(0, 20, [&](Int) {
                    if_(s > 1, [&] {
                        s = s * 0.5;
                        throw Mishap{};
                    });
                });
            });
            HERE(y[i] = s + 1.0;)
        });
    };
    // Left to escape, it arrives as it was, and the thread can trace again.
    CHECK_THROWS_AS(thrower([](const auto& f) { f(); }).trace(Precision::f64), Mishap);
    CHECK_THROWS_AS(Float(1.0), Error);
    const auto fine = kernel("fine", {"y"}, [](Int i, Write<Float> y) { y[i] = Float(i); });
    test::Data data{.real = {{"y", {9, 9}}}};
    test::run(fine.trace(Precision::f64), data, 2);
    CHECK(data.real["y"] == std::vector<double>{0, 1});
    // Caught inside the kernel but outside the region, half a program was recorded.
    check_trace(thrower([](const auto& f) {
                    try {
                        f();
                    } catch (const Mishap&) {
                    }
                }),
                {"an exception left a branch or loop", "half a program",
                 "catch it inside the same branch"});
    // Caught inside the same region, nothing is lost.
    const auto caught = kernel("caught", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        Float s = x[i];
        if_(s > 1, [&] {
            try {
                throw Mishap{};
            } catch (const Mishap&) {
                s = 7;
            }
        });
        y[i] = s;
    });
    test::Data two{.real = {{"x", {0, 2}}, {"y", {9, 9}}}};
    test::run(caught.trace(Precision::f64), two, 2);
    CHECK(two.real["y"] == std::vector<double>{0, 7});
}

// ---- derivatives inside kernels

TEST_CASE("grad() of what is not a variable(), or stands elsewhere") {
    check_trace(kernel("k", {"x", "y"},
                       [](Int i, Read<Float> x, Write<Float> y) {
                           const Float a = x[i];
                           HERE(y[i] = ad::grad(a * a, a);)
                       }),
                {"not made by variable()", "x = variable(x)"});
    check_trace(kernel("k", {"x", "y"},
                       [](Int i, Read<Float> x, Write<Float> y) {
                           Float a = ad::variable(x[i]);
                           a = a * 2.0;
                           HERE(y[i] = ad::grad(a * a, a);)
                       }),
                {"not made by variable()", "do not assign x in between"});
    int made = 0;
    const auto branches = kernel("k", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        made = __LINE__ + 1;
        const Float a = ad::variable(1.0 * x[i]);
        Float g = 0;
        if_(x[i] > 0, [&] { HERE(g = ad::grad(a * a, a);) });
        y[i] = g;
    });
    check_trace(branches, {"different branches or loops"});
    check_error([&] { branches.trace(Precision::f64); },
                {{"test_kernel_errors.cpp:" + std::to_string(made), "both outside"}});
    // In a loop a variable from outside is the loop's own copy of it.
    check_trace(kernel("k", {"x", "n", "y"},
                       [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
                           const Float a = ad::variable(x[i]);
                           Float g = 0;
                           for_(0, n[i], [&](Int) { HERE(g += ad::grad(a * a, a);) });
                           y[i] = g;
                       }),
                {"not made by variable()"});
}

TEST_CASE("custom_gradient with the wrong number of adjoints") {
    check_trace(kernel("k", {"x", "y"},
                       [](Int i, Read<Float> x, Write<Float> y) {
                           HERE(const Float v = 1.0 * x[i];)
                           const auto out = ad::custom_gradient(
                               {v, v}, [](const ad::Floats& in) { return ad::Floats{in[0]}; },
                               [](const ad::Floats& seeds, const ad::Floats&, const ad::Floats&) {
                                   return seeds;
                               });
                           y[i] = out[0];
                       }),
                {"returned 1 values for 2 inputs", "one adjoint per input"});
}

// ---- declarations

TEST_CASE("names of parameters") {
    check_error([] { HERE(kernel("k", {"x"}, [](Int, Read<Float>, Write<Float>) {});) },
                {{"has 2 parameters", "1 names are given"}});
    check_error(
        [] {
            HERE(kernel("k", {"x", "y"}, [](Int i, Write<Float> y) { y[i] = 0; });)
        },
        {{"has 1 parameters", "2 names are given"}});
    check_error(
        [] {
            HERE(
                kernel("k", {"x", "x"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i]; });)
        },
        {{"two parameters are called 'x'"}});
}

TEST_CASE("sharing and differentiating parameters that do not allow it") {
    const auto def =
        kernel("k", {"n", "x", "y"},
               [](Int i, Read<Int> n, Read<Float> x, Write<Float> y) { y[i] = x[n[i]]; });
    const auto expect = [](const std::function<void()>& action, const std::string& words) {
        try {
            action();
            FAIL_CHECK("no error: " << words);
        } catch (const Error& e) {
            CHECK_MESSAGE(std::string(e.what()).find(words) != std::string::npos, e.what());
            CHECK(e.kernel() == "k");
        }
    };
    // These come from the caller of the kernel, not from a statement in it: no place.
    expect([&] { def.trace(Precision::f64, {"x"}); }, "'x' is not a Property");
    expect([&] { def.trace(Precision::f64, {"z"}); }, "no parameter 'z'");
    expect([&] { ad::adjoint(def.trace(Precision::f64), {"z"}); },
           "no parameter 'z' to differentiate");
    expect([&] { ad::tangent(def.trace(Precision::f64), {"n"}); }, "'n' is not real");
}
