// Zero guards (engine/backend/cpu/per_target/zero_guards.hpp): which can be left out. What then
// happens to a launch is tested where it is done (test_cpu_mirror.cpp).
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/cpu/per_target/zero_guards.hpp"
#include "engine/ir/clone.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::test {

using namespace lang;
using ir::OpCode;
using ir::Precision;

namespace {

// Of all guards of a kernel, those that are left; `sums`: its accumulations.
std::pair<int, int> guards_left(const ir::Kernel& kernel) {
    const ir::Kernel lowered = lang::lower(kernel, lang::Lowering::all);
    std::vector<ir::Value> sums, used;
    for (const ir::Value v : lowered.region(0).ops) {
        if (lowered.op(v).code == OpCode::accumulate) sums.push_back(v);
        if (ir::is_effect(lowered.op(v).code)) used.push_back(v);
    }
    const auto selections = [&](ir::Kernel k) {
        ir::remove_dead_ops(k, false);
        const auto is_one = [&](ir::Value v) { return k.op(v).code == OpCode::select; };
        int count = 0;
        for (const ir::Region& region : k.regions)
            count += static_cast<int>(std::count_if(region.ops.begin(), region.ops.end(), is_one));
        return count;
    };
    const auto quick = backend::cpu::without_guards(lowered, sums, used);
    CHECK(quick.changed == (selections(quick.kernel) < selections(lowered)));
    return {selections(lowered), selections(quick.kernel)};
}

template <class F>
std::pair<int, int> of(const F& term) {
    return guards_left(kernel("k", {"to", "a", "b", "sum", "total"},
                              [&term](Int i, Read<Int> to, Read<Float> a, Read<Float> b,
                                      Accumulate<Float> sum, Reduce<Float> total) {
                                  Float in_total;
                                  sum[to[i]] += term(Float(a[i]), Float(b[i]), in_total);
                                  total += in_total;
                              })
                           .trace(Precision::f32));
}
using Count = std::pair<int, int>;

}  // namespace

TEST_CASE("zero guards: left out where a NaN reaches a sum and a sign is all that changes") {
    CHECK(of([](Float a, Float b, Float&) { return mulg(a, b); }) == Count{1, 0});
    CHECK(of([](Float a, Float b, Float&) { return mulz(a, b) + divz(b, a); }) == Count{2, 0});
    CHECK(of([](Float a, Float b, Float&) {  // one inside another
              return sqrt(2.0 - divz(mulg(a, b), a)) * b;
          }) == Count{2, 0});
    CHECK(of([](Float a, Float b, Float& total) {  // also in a total
              const Float p = mulg(a, b);
              total = p * b;
              return a - p;
          }) == Count{1, 0});
    CHECK(of([](Float a, Float b, Float&) {  // also compared, which no sign of a zero changes
              const Float p = mulg(a, b);
              return p + select(p < 1.0, a, b);
          }) == Count{2, 1});
}

TEST_CASE("zero guards: kept where they could be missed") {
    // A NaN reaches no sum.
    CHECK(of([](Float a, Float b, Float& total) {
              total = mulg(a, b);
              return a;
          }) == Count{1, 1});
    CHECK(of([](Float a, Float b, Float&) { return select(mulg(a, b) < 1.0, a, b); }) ==
          Count{2, 2});
    CHECK(of([](Float a, Float b, Float&) { return max(mulg(a, b), b); }) == Count{2, 2});
    // The sign of a zero counts.
    CHECK(of([](Float a, Float b, Float&) { return b / mulg(a, b); }) == Count{1, 1});
    CHECK(of([](Float a, Float b, Float&) { return floor(mulg(a, b)); }) == Count{1, 1});
    // A guard that is kept stops the NaN of another one: 0 from it is not seen.
    CHECK(of([](Float a, Float b, Float&) {
              const Float inner = mulg(a, b);
              return b / mulg(a, inner);
          }) == Count{2, 2});
    // No guards, though they look like them.
    CHECK(of([](Float a, Float b, Float&) { return select(a == 0.0, Float(0), b * b); }).second ==
          1);
    CHECK(of([](Float a, Float b, Float&) { return select(b < 0.0, a * b, Float(0)); }) ==
          Count{1, 1});
}

TEST_CASE("zero guards: those of an adjoint of springs are all left out") {
    const ir::Kernel springs = kernel("springs", {"ends", "rest", "k", "x", "force"},
                                      [](Int s, Read<Int2> ends, Read<Float> rest, Param<Float> k,
                                         Read<Vec3> x, Accumulate<Vec3> force) {
                                          const Int a = ends[s].x(), b = ends[s].y();
                                          const Vec3 d = x[b] - x[a];
                                          const Float tension =
                                              k.value() * (1.0 - divz(rest[s], norm(d)));
                                          Vec3 f;
                                          for (int c = 0; c < 3; ++c) f[c] = mulg(d[c], tension);
                                          force[a] += f;
                                          force[b] -= f;
                                      })
                                   .trace(Precision::f32);
    const Count count = guards_left(ad::adjoint(springs, {"x", "k", "force"}));
    CHECK(count.first >= 10);
    CHECK(count.second == 1);  // the root's: a smallest length, no zero guard
}

}  // namespace hindcast::test
