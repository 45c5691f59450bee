// What launches become, as text: IR, adjoint and tangent, LLVM and assembly, CUDA C++.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/cuda/emit.hpp"
#include "engine/backend/text/kernel_text.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/launch/launch_text.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using backend::KernelText;
using ir::Precision;
using test::array;

namespace {

const KernelDef weigh = kernel(
    "weigh", {"x", "factor", "y"},
    [](Int i, Read<Float> x, Param<Float> factor, Write<Float> y) { y[i] = sqrt(x[i]) * factor; });

Launch weigh_on(const std::shared_ptr<Device>& device, Precision precision) {
    const ir::Type real = ir::real_type(precision);
    return {device, weigh, precision, 3, {array({1, 4, 9}, real), 2, array({0, 0, 0}, real)}};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("launch text: IR has the kernel's parameters and every op, in all directions") {
    const Launch launch = weigh_on(test::interpreter_device(), Precision::f64);
    const std::string forward = launch_text(launch, Direction::forward, KernelText::ir);
    CHECK(contains(forward, "kernel weigh f64\n"));
    for (const char* part : {"Read<f64> x", "Param<f64> factor", "Write<f64> y", " load ", " sqrt ",
                             " mul ", " own_store "})
        CHECK_MESSAGE(contains(forward, part), part, " in ", forward);
    // A line for the name, one for each parameter, one for each op: load, sqrt, mul, store.
    const auto lines = std::count(forward.begin(), forward.end(), '\n');
    CHECK(lines == 1 + 3 + 4);
    // d(sqrt(x) f)/dx needs a division, and adds to the gradient of x.
    const std::string adjoint = launch_text(launch, Direction::adjoint, KernelText::ir);
    CHECK_MESSAGE(contains(adjoint, " div"), adjoint);
    CHECK(contains(adjoint, "x.a1"));
    CHECK(contains(launch_text(launch, Direction::tangent, KernelText::ir), "y.t1"));
    CHECK(launch_text(launch.adjoint(), KernelText::ir) == adjoint);
}

TEST_CASE("launch text: a launch without a derivative has no text of one") {
    Launch launch = weigh_on(test::interpreter_device(), Precision::f32);
    launch.differentiate_only({});
    CHECK(contains(launch_text(launch, Direction::forward, KernelText::ir), "kernel weigh f32\n"));
    CHECK_THROWS_AS(launch_text(launch, Direction::adjoint, KernelText::ir), Error);
}

TEST_CASE("launch text: CUDA is what the emitter makes of the kernel") {
    const Launch launch = weigh_on(test::interpreter_device(), Precision::f32);
    for (const Direction d : {Direction::forward, Direction::adjoint}) {
        const Launch::Replay replay = launch.replay(d);
        const ir::Kernel& kernel = replay.kernel();
        const auto made = backend::cuda::emit(backend::cuda::plan_for(kernel),
                                              backend::cuda::identifier(kernel.name));
        CHECK(launch_text(launch, d, KernelText::cuda) == made.text);
        CHECK(contains(made.text, "__global__ void " + made.name + "("));
    }
}

TEST_CASE("launch text: assembly names its function and is for the device's lanes") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("there is no LLVM");
    const auto narrow =
        std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cpu, .threads = 1, .width = 1});
    const auto wide =
        std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cpu, .threads = 1, .width = 8});
    const std::string one =
        launch_text(weigh_on(narrow, Precision::f32), Direction::forward, KernelText::assembly);
    const std::string eight =
        launch_text(weigh_on(wide, Precision::f32), Direction::forward, KernelText::assembly);
    const std::string llvm =
        launch_text(weigh_on(wide, Precision::f32), Direction::forward, KernelText::llvm);
    // The function that is called is the label `kernel`; eight floats are one ymm register.
    CHECK(contains(llvm, "define void @kernel("));
    CHECK(contains(eight, "\nkernel:"));
    CHECK(contains(llvm, "<8 x float>"));
    CHECK(contains(eight, "ymm"));
    CHECK(contains(eight, "vsqrtps"));
    CHECK(contains(one, "vsqrtss"));
    CHECK_FALSE(contains(one, "vsqrtps"));
}
