// A small program on the installed engine: a kernel, its launch, and the gradient by its adjoint.
#include <cstdio>

#include "engine/runtime/launch.hpp"

using namespace hindcast;
using namespace hindcast::lang;

int main(int argc, char** argv) try {
    DeviceOptions options;
    choose_device(options, argc > 1 ? argv[1] : "cpu");
    const auto device = std::make_shared<Device>(options);
    const KernelDef springs = kernel(
        "springs", {"x", "k", "energy"},
        [](Int i, Read<Float> x, Param<Float> k, Reduce<Float> e) { e += 0.5 * k * x[i] * x[i]; });
    const Array x = Array::from(std::vector<double>{1, 2, 3}, ir::Type::f32, {3});
    const Array energy(ir::Type::f64, {1});
    const Launch launch(device, springs, ir::Precision::f32, 3, {x, 10, energy});
    launch.forward().run();
    energy.gradient().fill(1);
    launch.adjoint().run();
    const Array g = x.gradient();
    std::printf("energy %g, gradient %g %g %g, by k %g\n", energy.value(0), g.value(0), g.value(1),
                g.value(2), launch.gradient_of("k")[0]);
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
