// Obstacles that move are drawn where they are at the time shown; balls as large as they are then.
#include <doctest/doctest.h>

#include <algorithm>

#include "app/session/frames/scene_info.hpp"
#include "tests/physics/module_scene.hpp"

using namespace hindcast;

TEST_CASE("session: obstacles with a velocity are drawn where they are at the time shown") {
    const auto sim = test::simulate(R"("dimension": 2, "time": {"step": 0.1, "steps": 10},
        "bodies": [{"type": "particles", "name": "p", "positions": [[0, 5]]}],
        "colliders": [
            {"type": "plane", "name": "floor", "normal": [3, 4], "offset": -1, "velocity": [1, 2]},
            {"type": "sphere", "name": "rock", "center": [1, 2], "radius": 0.5,
             "velocity": [-2, 0.5]},
            {"type": "sphere", "name": "still", "center": [4, 2], "radius": 0.25}],
        "parameters": [{"path": "rock.velocity"}])");
    const auto scene = session::make_scene_info(*sim);
    const auto base = session::numbers_of(*sim);
    const auto parameters = std::make_shared<const std::vector<double>>(sim->parameters().values());
    const auto at = [&](double time) {
        std::vector<std::vector<double>> found;
        const auto all = scene->drawable_numbers(*base, parameters, time);
        using Kind = render::Drawable::Kind;
        for (std::size_t k = 0; k < all.size(); ++k)
            if (const Kind kind = scene->plan.stage->drawables[k].kind;
                kind == Kind::half_space || kind == Kind::ball)
                found.push_back(all[k]);
        return found;
    };
    const auto start = at(0), later = at(2);
    REQUIRE(start.size() == 3);
    // Along the normal (0.6, 0.8) the plane moves with 0.6 + 1.6 m/s.
    CHECK(start[0] == std::vector<double>{0.6, 0.8, 0, -1});
    CHECK(later[0][3] == doctest::Approx(-1 + 2 * 2.2).epsilon(1e-14));
    CHECK(start[1] == std::vector<double>{1, 2, 0, 0.5});
    CHECK(later[1] == std::vector<double>{-3, 3, 0, 0.5});
    CHECK(later[2] == start[2]);
}

TEST_CASE("session: balls are drawn with the radius that is tried, not with that of the load") {
    const auto sim = test::simulate(R"("dimension": 2, "time": {"step": 0.1, "steps": 10},
        "bodies": [
            {"type": "particles", "name": "p", "positions": [[0, 5], [0, 6]], "radius": 0.125},
            {"type": "particles", "name": "q", "positions": [[3, 5]]}],
        "parameters": [{"path": "p.radius"}])");
    const auto scene = session::make_scene_info(*sim);
    const auto base = session::numbers_of(*sim);
    const auto radii = [&](const std::string& name, const std::vector<double>& parameters) {
        const auto all = scene->drawable_numbers(
            *base, std::make_shared<const std::vector<double>>(parameters), 0);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const render::Drawable& drawable = scene->plan.stage->drawables[k];
            if (drawable.name == name && drawable.kind == render::Drawable::Kind::points &&
                !drawable.ghost)
                return all[k];
        }
        throw Error("nothing is drawn of " + name);
    };
    CHECK(radii("p", {0.125}) == std::vector<double>{0.125});
    CHECK(radii("p", {0.5}) == std::vector<double>{0.5});
    CHECK(radii("q", {0.5}).empty());
}
