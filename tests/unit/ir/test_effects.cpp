// What a kernel does to its parameters, against what its text says.
#include <doctest/doctest.h>

#include "engine/ad/differentiate.hpp"
#include "engine/ir/effects.hpp"
#include "engine/lang/kernel.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

// "r" own element read, "R" others, "w" own stored, "W" others, "+" added to own, "*" to others, "#"
// counted, "e" reduced, "0" cleared, "z" left at zero.
std::string text_of(const ir::Effects& e) {
    std::string text;
    if (e.reads_own) text += 'r';
    if (e.reads_other) text += 'R';
    if (e.writes_own) text += 'w';
    if (e.writes_other) text += 'W';
    if (e.adds_own) text += '+';
    if (e.adds_other) text += '*';
    if (e.counts) text += '#';
    if (e.reduces) text += 'e';
    if (e.clears) text += '0';
    if (e.leaves_zero) text += 'z';
    return text;
}

std::vector<ir::Effects> effects(const KernelDef& k, const std::vector<std::string>& shared = {}) {
    return ir::effects_of(k.trace(ir::Precision::f64, shared));
}

void check_defines(const ir::Effects& e, const std::string& why) {
    CHECK(e.defines_all == why.empty());
    CHECK(e.not_defined == why);
}

}  // namespace

TEST_CASE("effects: reads and stores of own and other elements") {
    const auto all =
        effects(kernel("mixed", {"a", "b", "unused", "y", "z", "s", "n"},
                       [](Int i, Read<Float> a, Read<Vec2> b, Read<Float> /*unused*/,
                          Write<Float> y, ReadWrite<Vec2> z, WriteSlice<Float> s, Atomic<Int> n) {
                           y[i] = a[i] + b[i + 1].x();
                           z[i] += b[i];
                           s.store_once(2 * i, a[i]);
                           n[0].add(1);
                       }));
    const char* expected[] = {"r", "rR", "", "w", "rw", "W", "#"};
    for (std::size_t p = 0; p < all.size(); ++p) CHECK(text_of(all[p]) == expected[p]);
    CHECK(!all[0].writes());
    CHECK(!all[3].uses_old_values());
    CHECK(all[4].uses_old_values());
    CHECK(!all[5].uses_old_values());
    CHECK(all[6].uses_old_values());
}

TEST_CASE("effects: sums, reductions and launch parameters") {
    const auto all = effects(kernel("sums", {"k", "unused", "f", "g", "e"},
                                    [](Int i, Param<Float> k, Param<Float> /*unused*/,
                                       Accumulate<Float> f, Sum<Float> g, Reduce<Float> e) {
                                        f[i] += k.value();
                                        if_(i > 3, [&] { g[0] += 2.0; });
                                        e += k.value();
                                    }));
    const char* expected[] = {"r", "", "+", "*0", "e"};
    for (std::size_t p = 0; p < all.size(); ++p) CHECK(text_of(all[p]) == expected[p]);
    CHECK(all[2].uses_old_values());
    CHECK(!all[3].uses_old_values());
    CHECK(all[4].uses_old_values());
    check_defines(all[3], "");
    check_defines(all[2], "is added to");
    check_defines(all[4], "is added to");
}

TEST_CASE("effects: a Property of one value for all is read as one") {
    const KernelDef k = kernel("pull", {"p", "y"}, [](Int i, Property<Float> p, Write<Float> y) {
        y[i] = p[i] + p[i + 1];
    });
    CHECK(text_of(effects(k)[0]) == "rR");
    CHECK(text_of(effects(k, {"p"})[0]) == "r");
}

TEST_CASE("effects: what is stored on every path") {
    const auto all = effects(kernel(
        "paths", {"a", "always", "both", "one", "part", "whole", "self"},
        [](Int i, Read<Float> a, Write<Vec2> always, ReadWrite<Float> both, ReadWrite<Float> one,
           ReadWrite<Vec2> part, ReadWrite<Vec2> whole, ReadWrite<Float> self) {
            always[i] = Vec2(a[i], 1.0);
            if_(
                a[i] > 0.0, [&] { both[i] = 1.0; }, [&] { both[i] = a[i]; });
            if_(a[i] > 0.0, [&] { one[i] = 1.0; });
            part[i].y() = a[i];
            whole[i].x() = a[i];
            whole[i].y() = a[i];
            self[i] = a[i];
            self[i] += 1.0;  // of the new value
        }));
    check_defines(all[0], "is read");
    check_defines(all[1], "");
    check_defines(all[2], "");
    check_defines(all[3], "is read");
    check_defines(all[5], "");
    check_defines(all[6], "");
    CHECK(!all[4].defines_all);
    CHECK(all[3].place.file.ends_with("test_effects.cpp"));
}

TEST_CASE("effects: zero left in all components, and in nothing else") {
    const auto all =
        effects(kernel("zeros", {"a", "whole", "part", "some", "turned"},
                       [](Int i, Read<Float> a, Write<Vec2> whole, ReadWrite<Vec2> part,
                          ReadWrite<Float> some, Write<Float> turned) {
                           whole[i] = Vec2(0.0, 0.0);
                           part[i].y() = 0.0;
                           if_(a[i] > 0.0, [&] { some[i] = 0.0; });
                           turned[injective(3 - i)] = 0.0;
                       }));
    const char* expected[] = {"r", "wz", "", "", "W"};
    for (const std::size_t p : {0U, 1U, 4U}) CHECK(text_of(all[p]) == expected[p]);
    CHECK(!all[2].leaves_zero);
    CHECK(!all[3].leaves_zero);
}

TEST_CASE("effects: an index that is not the work item may leave elements out") {
    const auto all =
        effects(kernel("turned", {"n", "y", "s", "c"},
                       [](Int i, Param<Int> n, Write<Float> y, WriteSlice<Float> s, Atomic<Int> c) {
                           y[injective(n.value() - 1 - i)] = 1.0;
                           s.store_once(i, 1.0);
                           c[i].max(3);
                       }));
    CHECK(text_of(all[1]) == "W");
    check_defines(all[1], "is stored at an index that is not the work item itself");
    check_defines(all[2], "is stored at indices that the kernel computes");
    check_defines(all[3], "is changed by atomic operations");
}

TEST_CASE("effects: a derivative is a kernel like any other") {
    const ir::Kernel k = kernel("square", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
                             y[i] = x[i] * x[i];
                         }).trace(ir::Precision::f64);
    const ir::Kernel adjoint = ad::adjoint(k);
    const auto all = ir::effects_of(adjoint);
    const auto of = [&](const std::string& name) {
        return text_of(all[static_cast<std::size_t>(adjoint.find_parameter(name))]);
    };
    CHECK(of("x") == "r");
    CHECK(of("y") == "");
    CHECK(of(ad::adjoint_name(k, "x")) == "+");
    CHECK(of(ad::adjoint_name(k, "y")) == "rwz");  // taken and cleared
}
