// What derivatives cost in executed ops: an adjoint recomputes each level of a loop nest once more,
// and nothing grows faster than that. The bounds are a little above what was measured when the
// language was designed.
#include <doctest/doctest.h>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

constexpr int trips = 9;  // above unroll_trips, so that loops stay loops

KernelDef loop_nest(int depth) {
    return kernel("nest", {"x", "y"}, [depth](Int i, Read<Float> x, Write<Float> y) {
        Float s = x[i];
        const std::function<void(int)> level = [&](int left) {
            if (left == 0) {
                s = s * x[i] + 0.3 * s * s;
                return;
            }
            for_(0, trips, [&](Int) {
                s = s * 0.5 + x[i];
                level(left - 1);
            });
        };
        level(depth);
        y[i] = s;
    });
}

// Ops that compute a value, executed by one item.
std::int64_t executed(const ir::Kernel& kernel) {
    std::vector<std::vector<double>> memory(kernel.parameters.size(), std::vector<double>(4, 0.4));
    std::vector<backend::Binding> bindings;
    for (std::size_t p = 0; p < memory.size(); ++p)
        bindings.push_back({memory[p].data(), 4, 1, 1, 1});
    std::int64_t count = 0;
    backend::trace_item(kernel, bindings.data(), 0, [&](ir::Value, std::uint64_t) { ++count; });
    return count;
}

}  // namespace

TEST_CASE("the adjoint of a loop nest of depth 1 to 4 executes a bounded multiple of its ops") {
    const double bound[] = {4, 5, 6, 7};
    for (int depth = 1; depth <= 4; ++depth) {
        const ir::Kernel k = loop_nest(depth).trace(ir::Precision::f64);
        const double primal = static_cast<double>(executed(k));
        const double adjoint = static_cast<double>(executed(ad::adjoint(k))) / primal;
        const double second = static_cast<double>(executed(ad::tangent(ad::adjoint(k)))) / primal;
        INFO("depth " << depth);
        CHECK(adjoint <= bound[depth - 1]);
        CHECK(second <= 2.6 * bound[depth - 1]);
    }
}

TEST_CASE("activity: what no active input reaches costs nothing in the adjoint") {
    const auto def = kernel("inactive", {"x", "z", "y"},
                            [](Int i, Read<Float> x, Read<Float> z, Write<Float> y) {
                                Float s = z[i];
                                for_(0, 100, [&](Int) { s = sin(s) * z[i]; });
                                y[i] = x[i] + s;
                            });
    const ir::Kernel k = def.trace(ir::Precision::f64);
    const ir::Kernel by_x = ad::adjoint(k, {"x", "y"});
    CHECK(ir::count_ops(by_x, ir::OpCode::for_) == 0);
    CHECK(ir::count_ops(by_x, ir::OpCode::sin) == 0);
    CHECK(ir::count_ops(ad::adjoint(k, {"z", "y"}), ir::OpCode::for_) == 2);
    // The tangent by x alone runs the loop for the primal, and nothing beside it.
    CHECK(ir::count_ops(ad::tangent(k, {"x", "y"}), ir::OpCode::cos) == 0);
}
