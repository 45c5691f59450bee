// The window's own time: what its thread computes for a frame, without what the rasteriser takes,
// while a simulation optimises beside it.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>

#include "tests/gui/robot.hpp"

using namespace hindcast;
using test::Robot;

namespace {

double thread_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

TEST_CASE("gui: a frame takes the window's thread a fraction of a sixtieth of a second") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        robot.work().open(robot.scenes() / "hanging_net.json");
        CHECK(robot.wait([&] { return robot.work().has_run(); }));
        robot.frames(10);
    });
    robot.work().optimise(session::Optimise::What::start);
    std::vector<double> own, whole;
    for (int k = 0; k < 120; ++k) {
        const auto begin = std::chrono::steady_clock::now();
        const double before = thread_seconds();
        robot.app().frame();
        own.push_back(thread_seconds() - before);
        whole.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::ranges::sort(own);
    std::ranges::sort(whole);
    MESSAGE(
        fmt::format("window's thread: median {:.2f} ms, longest {:.2f} ms; whole frame with "
                    "the rasteriser and validation: median {:.1f} ms, longest {:.1f} ms",
                    own[60] * 1e3, own.back() * 1e3, whole[60] * 1e3, whole.back() * 1e3));
    CHECK(own[60] < 1.0 / 60);
}
