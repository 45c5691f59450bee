// A kernel over members (ir/batch.hpp) gives each member the bits of a launch of its own, in the
// interpreter, in code of every width and on the CUDA device.
#include <doctest/doctest.h>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/backend/plan/fixed_point.hpp"
#include "engine/ir/batch.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/batch_places.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/kernels/cuda_kernel.hpp"
#include "tests/support/kernels/random_kernel.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Access;

namespace {

template <class T>
std::vector<T> interleaved(const std::vector<std::vector<T>>& members) {
    std::vector<T> all;
    for (std::size_t s = 0; s < members[0].size(); ++s)
        for (const std::vector<T>& member : members) all.push_back(member[s]);
    return all;
}

// The members' data side by side; what is shared is the first member's, what a Sum defines zero.
Data interleaved(const ir::Kernel& kernel, const std::vector<Data>& members) {
    Data all;
    for (const ir::Parameter& p : kernel.parameters) {
        const auto gather = [&](auto Data::*map) {
            if (!(members[0].*map).contains(p.name)) return;
            std::vector<typename std::decay_t<decltype(members[0].*map)>::mapped_type> of;
            for (const Data& member : members) of.push_back((member.*map).at(p.name));
            (all.*map)[p.name] = is_shared(p) ? of[0] : interleaved(of);
            if (p.access == Access::sum)
                std::fill((all.*map)[p.name].begin(), (all.*map)[p.name].end(), 0);
        };
        gather(&Data::real);
        gather(&Data::whole);
    }
    return all;
}

// Every member alone by the interpreter, and all of them as a batch: "" or the parameter whose bits
// differ.
std::string difference(const ir::Kernel& kernel, const std::vector<Data>& members,
                       std::int64_t items, const Compile& compile) {
    const auto count = static_cast<std::int64_t>(members.size());
    const ir::Kernel batched = ir::batch(kernel, items, count, places(kernel));
    Data together = interleaved(kernel, members);
    run(batched, together, count, compile);
    std::vector<Data> alone = members;
    for (Data& member : alone) run(kernel, member, items);
    const Data expected = interleaved(kernel, alone);
    for (const ir::Parameter& p : kernel.parameters) {
        if (p.access == Access::sum) {  // `interleaved` zeroes those
            const auto found = together.real.find(p.name);
            if (found == together.real.end()) continue;
            std::vector<std::vector<double>> of;
            for (const Data& member : alone) of.push_back(member.real.at(p.name));
            if (!same_bits(interleaved(of), found->second)) return p.name;
        } else if (expected.real.contains(p.name)) {
            if (!same_bits(expected.real.at(p.name), together.real.at(p.name))) return p.name;
        } else if (expected.whole.contains(p.name)) {
            if (expected.whole.at(p.name) != together.whole.at(p.name)) return p.name;
        }
    }
    return "";
}

std::vector<std::pair<std::string, Compile>> back_ends() {
    std::vector<std::pair<std::string, Compile>> list{{"interpreter", interpreter()}};
    if (has_cpu_device())
        for (const int width : {1, 4, 8, 16})
            list.emplace_back("width " + std::to_string(width), [width](const ir::Kernel& kernel) {
                return backend::compile_cpu(kernel, {.width = width});
            });
    if (has_cuda_device())
        list.emplace_back("CUDA", [](const ir::Kernel& kernel) { return cuda_kernel(kernel); });
    return list;
}

bool can_be_batched(const ir::Kernel& kernel) {
    for (const backend::FixedPoint& f : backend::fixed_point_parameters(kernel))
        if (f.used) return false;
    return true;
}

}  // namespace

TEST_CASE("batch: random kernels, their adjoints and tangents") {
    struct Run {
        std::uint64_t seed;
        ir::Kernel kernel;
        std::int64_t items;
        std::vector<Data> members;
    };
    std::vector<Run> runs;
    for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64})
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            const Case c = random_case(seed, precision);
            for (const int derivative : {0, 1, 2}) {
                const ir::Kernel kernel = derivative == 0   ? c.kernel
                                          : derivative == 1 ? ad::adjoint(c.kernel)
                                                            : ad::tangent(c.kernel);
                if (!can_be_batched(kernel)) continue;
                std::vector<Data> members;
                for (std::uint64_t m = 0; m < 5; ++m) {
                    members.push_back(random_inputs(c, 100 * seed + m));
                    members.back().whole = random_inputs(c, seed).whole;
                    std::mt19937_64 random(seed + m);
                    add_derivative_inputs(kernel, members.back(), random);
                }
                runs.push_back({seed, kernel, c.items, std::move(members)});
            }
        }
    CHECK(runs.size() > 30);
    if (has_cuda_device())  // all are compiled together
        for (const Run& r : runs) {
            const auto executable = cuda_kernel(ir::batch(
                r.kernel, r.items, static_cast<std::int64_t>(r.members.size()), places(r.kernel)));
            std::vector<backend::Binding> shapes;
            for (const ir::Parameter& p : executable->kernel().parameters)
                shapes.push_back({nullptr, 0, p.components, 1});
            executable->prepare(shapes.data(), 1);
        }
    for (const Run& r : runs)
        for (const auto& [name, compile] : back_ends()) {
            CAPTURE(r.seed);
            CAPTURE(r.kernel.name);
            CAPTURE((r.kernel.precision == ir::Precision::f64));
            CAPTURE(name);
            CHECK(difference(r.kernel, r.members, r.items, compile) == "");
        }
}

TEST_CASE("batch: reductions of one chunk have the bits of the tree") {
    const KernelDef total =
        kernel("total", {"x", "shift", "sum", "last"},
               [](Int i, Read<Vec2> x, Param<Float> shift, Reduce<Vec2> sum, Write<Float> last) {
                   const Vec2 v = x[i];
                   if_(v.x() < 0.7, [&] { sum += v * shift.value(); });
                   sum += v;
                   last[i] = v.y();
               });
    for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64})
        for (const std::int64_t items : {1, 2, 3, 15, 16, 17, 100, 1024}) {
            CAPTURE(items);
            Case c{.kernel = total.trace(precision), .items = items};
            std::mt19937_64 random(static_cast<std::uint64_t>(items));
            std::vector<Data> members;
            for (int m = 0; m < 3; ++m) {
                members.push_back(inputs(c, random));
                members.back().real["sum"] = {0.5 * m, -1.0 * m};
            }
            for (const auto& [name, compile] : back_ends()) {
                CAPTURE(name);
                CHECK(difference(c.kernel, members, items, compile) == "");
            }
        }
}

TEST_CASE("batch: indices, integers and branches of a member's own") {
    const KernelDef walk = kernel(
        "walk", {"next", "x", "visits", "y"},
        [](Int i, ReadWrite<Int> next, Read<Vec2> x, WriteSlice<Int> visits, Write<Float> y) {
            Int at = next[i];
            Float sum = 0;
            for_(
                0, at + 1, [&](Int j) { sum += Vec2(x[(at + j) % 4]).y(); }, 8);
            if_(at % 2 == 0, [&] { sum += Vec2(x[at]).x(); });
            visits.store_once(3 - i, at * 10 + i);
            next[i] = (at + 1) % 4;
            y[i] = sum;
        });
    const ir::Kernel k = walk.trace(ir::Precision::f32);
    std::vector<ir::BatchParameter> own = places(k);
    const std::int64_t count = 6;
    std::vector<Data> members;
    std::mt19937_64 random(3);
    for (std::int64_t m = 0; m < count; ++m)
        members.push_back({.real = {{"x", {}}, {"y", {0, 0, 0, 0}}},
                           .whole = {{"next", {m % 4, (m + 1) % 4, (m + 2) % 4, 3 - m % 4}},
                                     {"visits", {0, 0, 0, 0}}}});
    for (Data& member : members)
        for (int c = 0; c < 8; ++c)
            member.real["x"].push_back(static_cast<double>(random() % 1000) / 8);
    for (const auto& [name, compile] : back_ends()) {
        CAPTURE(name);
        CHECK(difference(k, members, 4, compile) == "");
    }
    // Shared values in one memory, whatever the member.
    own[1].shared = true;
    const ir::Kernel batched = ir::batch(k, 4, count, own);
    CHECK(batched.parameters[1].components == 2);
    for (const auto& [name, compile] : back_ends()) {
        CAPTURE(name);
        std::vector<Data> alone = members;
        for (Data& member : alone) {
            member.real["x"] = members[0].real["x"];
            run(k, member, 4);
        }
        Data together = interleaved(k, members);
        together.real["x"] = members[0].real["x"];
        run(batched, together, count, compile);
        const Data expected = interleaved(k, alone);
        CHECK(same_bits(together.real["y"], expected.real.at("y")));
        CHECK(together.whole["next"] == expected.whole.at("next"));
        CHECK(together.whole["visits"] == expected.whole.at("visits"));
    }
}

TEST_CASE("batch: sums at static indices, by hand") {
    // Member m: force[e] starts at m and receives 1 + m from each of the three items that name it.
    const KernelDef scatter = kernel("scatter", {"to", "gain", "force"},
                                     [](Int i, Read<Int> to, Param<Float> gain,
                                        Accumulate<Float> force) { force[to[i]] += gain.value(); });
    const ir::Kernel k = scatter.trace(ir::Precision::f32);
    const ir::Kernel b = ir::batch(k, 6, 2, places(k));
    CHECK(b.parameters[2].access == Access::exclusive);
    CHECK(b.parameters[1].type == ir::Type::f64);
    Data data{.real = {{"gain", {1, 2}}, {"force", {0, 1, 0, 1}}},
              .whole = {{"to", {0, 1, 0, 1, 1, 0}}}};
    for (const auto& [name, compile] : back_ends()) {
        CAPTURE(name);
        Data run_data = data;
        run(b, run_data, 2, compile);
        CHECK(run_data.real["force"] == std::vector<double>{3, 7, 3, 7});
    }
}

TEST_CASE("batch: what cannot be batched is refused with a reason") {
    const KernelDef count = kernel("count", {"n"}, [](Int i, Atomic<Int> n) { n[i].add(1); });
    const ir::Kernel k = count.trace(ir::Precision::f32);
    CHECK_THROWS_WITH_AS(ir::batch(k, 3, 4, places(k)), doctest::Contains("atomic"), Error);
    const KernelDef copy =
        kernel("copy", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i]; });
    const ir::Kernel c = copy.trace(ir::Precision::f32);
    CHECK_THROWS_WITH_AS(ir::batch(c, 1025, 4, places(c)), doctest::Contains("1025 items"), Error);
    const ir::Kernel batched = ir::batch(c, 3, 4, places(c));
    CHECK_THROWS_WITH_AS(ad::adjoint(batched), doctest::Contains("exclusive"), Error);
    CHECK_THROWS_WITH_AS(ad::tangent(batched), doctest::Contains("exclusive"), Error);
}

}  // namespace hindcast::test
