// The public header by the name that users write, in the build's own tree: projects that add this
// one to theirs include it so. tests/consumer does the same with the installed package.
#include <doctest/doctest.h>

#include <hindcast/hindcast.hpp>
#include <memory>
#include <vector>

using namespace hindcast;
using namespace hindcast::lang;

TEST_CASE("public header: a kernel, a launch and its adjoint with what it includes") {
    const KernelDef cube = kernel("cube", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        y[i] = x[i] * x[i] * x[i];
    });
    DeviceOptions options;
    choose_device(options, "interpreter");
    const Array x = Array::from(std::vector<double>{1, 2, 3}, ir::Type::f64, {3});
    const Array y(ir::Type::f64, {3});
    const Launch launch(std::make_shared<Device>(options), cube, ir::Precision::f64, 3, {x, y});
    launch.forward().run();
    y.gradient().fill(1);
    launch.adjoint().run();
    for (int k = 0; k < 3; ++k) {
        CHECK(y.value(k) == (k + 1) * (k + 1) * (k + 1));
        CHECK(x.gradient().value(k) == 3 * (k + 1) * (k + 1));
    }
}
