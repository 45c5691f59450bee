// Random drops of solids, cloth and points on random obstacles, every fourth scene in the plane: after
// no step is a vertex inside of an obstacle, and what cannot be done is said.
// HINDCAST_FULL=1 makes 1000 of them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

#include "engine/base/error.hpp"
#include "tests/physics/drops/bodies.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/patience.hpp"

using namespace hindcast;
using namespace hindcast::test;
using namespace hindcast::test::drops;

namespace {

constexpr int steps = 12;

// What the obstacles that exist in the plane are numbered.
constexpr int in_the_plane[] = {0, 1, 2, 4, 5};

}  // namespace

TEST_CASE("contact: random drops on random obstacles of all kinds end inside of none") {
    const int drops = test::full() ? 1000 : 150;
    constexpr int at_once = 2;
    Random random{std::mt19937(20)};
    int reported = 0, touched = 0;
    for (int scene = 0; scene * at_once < drops; ++scene) {
        const Space space{random, scene % 4 == 3};
        std::vector<Obstacle> obstacles;
        std::string colliders, bodies;
        const int count = 2 + random.below(3);
        for (int k = 0; k < count; ++k) {
            const int kind = space.plane ? in_the_plane[k == 0 ? scene / 4 % 5 : random.below(5)]
                                         : (k == 0 ? scene % 6 : random.below(6));
            obstacles.push_back(random_obstacle(kind, k, space));
            colliders += (k > 0 ? ", {" : "{") + obstacles.back().scene + "}";
        }
        for (int k = 0; k < at_once; ++k) bodies += (k > 0 ? ", " : "") + random_body(k, space);
        const std::string all =
            std::string(space.plane ? R"("dimension": 2, "gravity": [0, -9.81], )" : "") +
            R"("time": {"step": 0.02, "steps": )" + std::to_string(steps) +
            R"(, "integrator": "implicit_euler"}, "bodies": [)" + bodies + R"(], "colliders": [)" +
            colliders + "]";
        CAPTURE(scene);
        CAPTURE(all);
        const auto s = simulate(all, scene % 3 == 2 ? ir::Precision::f32 : ir::Precision::f64);
        const std::int64_t points = s->model().point_count();
        int frame = 0;
        double nearest = 1;
        const auto check = [&](std::int64_t) {
            const double time = step * frame++;
            for (std::int64_t p = 0; p < points; ++p) {
                const V x = {position(*s, p, 0), position(*s, p, 1),
                             space.plane ? 0 : position(*s, p, 2)};
                for (const Obstacle& o : obstacles) nearest = std::min(nearest, o.at(x, time));
            }
            CHECK(nearest > 0);
            return true;
        };
        try {
            s->run(false, check);
            CHECK(frame >= steps);
        } catch (const Error& error) {
            ++reported;
            MESSAGE(error.what());
        }
        touched += nearest < reach ? 1 : 0;
    }
    CHECK(reported * 50 <= drops / at_once);  // what is refused is the exception
    CHECK(touched * at_once * 10 > drops * 8);
}
