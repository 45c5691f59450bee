// Sizes that are multiples of nothing: compiled kernels give the interpreter's bits, forwards and
// backwards. With guard pages (engine/base/aligned.hpp) these tests also find reads that go out of
// an array and are not used.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/backend/jit/llvm.hpp"
#include "engine/base/hash.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/skip.hpp"

namespace hindcast {

namespace {

#define HINDCAST_NEEDS_LLVM() \
    if (!test::has_cpu_device()) HINDCAST_SKIP("no compiled code is tested here")

struct Bits {
    Hash128 state;
    double loss = 0;
    std::vector<double> gradient;
    bool operator==(const Bits&) const = default;
};

Bits run(const std::string& text, ir::Precision precision, const DeviceOptions& device) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(device);
    options.precision = precision;
    Simulation simulation(Scene::parse(text, "odd.json"), test::all_modules(), options);
    Bits bits;
    bits.loss = simulation.run(true);
    bits.state = simulation.state_hash().digest();
    bits.gradient = simulation.gradient();
    return bits;
}

void compare(const std::string& text, const std::vector<int>& widths = {1, 4, 8, 16}) {
    for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
        const Bits expected = run(text, precision, {.kind = DeviceKind::interpreter});
        REQUIRE(std::isfinite(expected.loss));
        for (const int width : widths)
            for (const int threads : {1, 2}) {
                CAPTURE(width);
                CAPTURE(threads);
                CHECK(run(text, precision,
                          {.kind = DeviceKind::cpu, .threads = threads, .width = width}) ==
                      expected);
            }
    }
}

// columns x rows particles that hang from the first.
std::string hanging(int columns, int rows, int steps, const std::string& connect) {
    return R"({"format": 1, "name": "net", "time": {"step": "1/100", "steps": )" +
           std::to_string(steps) + R"(}, "gravity": [0, 0, -9.81], "bodies": [{"type": "particles",
        "name": "net", "positions": {"grid": {"counts": [)" +
           std::to_string(columns) + ", " + std::to_string(rows) +
           R"(, 1], "spacing": 0.1}}, "mass": 0.01, "fixed": [0]}],
        "forces": [{"type": "springs", "name": "threads", "connect": )" +
           connect + R"(, "stiffness": 10, "damping": 0.01}],
        "objective": [{"type": "center_of_mass", "of": "net", "target": [0, 0, -1]}],
        "parameters": [{"path": "threads.stiffness"}, {"path": "net.velocity"}]})";
}

std::string net(int columns, int rows, int steps) {
    return hanging(columns, rows, steps,
                   R"({"grid": "net", "counts": [)" + std::to_string(columns) + ", " +
                       std::to_string(rows) + R"(], "patterns": ["structural", "shear"]})");
}

std::string chain(int length, int steps) {
    return hanging(length, 1, steps, R"({"chain": "net"})");
}

}  // namespace

TEST_CASE("odd sizes: nets whose columns are no multiple of a vector") {
    HINDCAST_NEEDS_LLVM();
    for (const int columns : {2, 3, 17, 33, 63, 65}) {
        CAPTURE(columns);
        compare(net(columns, 5, 3));
    }
    compare(net(65, 65, 2), {8, 16});
}

TEST_CASE("odd sizes: chains") {
    HINDCAST_NEEDS_LLVM();
    for (const int length : {2, 3, 15, 16, 17, 63, 65, 127}) {
        CAPTURE(length);
        compare(chain(length, 3));
    }
}

TEST_CASE("odd sizes: histories of 4 MiB and more") {
    HINDCAST_NEEDS_LLVM();
    // 101 particles, 3 components of 4 bytes, 4000 steps: 4.8 MB each for positions and velocities.
    compare(chain(101, 4000), {8, 16});
}

}  // namespace hindcast
