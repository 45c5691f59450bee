// A small program on the installed library: a kernel, its launch, and the gradient by its adjoint;
// two launches over a user's memory on a tape; given a scene, its loss.
#include <cstdio>
#include <hindcast/hindcast.hpp>

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

    const KernelDef square = kernel(
        "square", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * x[i]; });
    const auto memory = std::make_shared<std::vector<double>>(std::vector<double>{2, 0, 3, 0});
    const Array even = Array::over_strided({memory->data(), 2, 1}, memory, ir::Type::f64, {2}),
                odd = Array::over_strided({memory->data() + 1, 2, 1}, memory, ir::Type::f64, {2});
    Tape tape;
    tape.launch(Launch(device, square, ir::Precision::f64, 2, {even, odd}));
    odd.gradient().fill(1);
    tape.backward();
    std::printf("squares %g %g, slopes %g %g\n", (*memory)[1], (*memory)[3],
                even.gradient().value(0), even.gradient().value(1));

    if (argc > 2) {
        Registry registry;
        register_all_modules(registry);
        Simulation simulation(Scene::load(argv[2]), registry, {.device = device});
        std::printf("loss %.17g of %lld steps\n", simulation.run(),
                    static_cast<long long>(simulation.steps()));
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
