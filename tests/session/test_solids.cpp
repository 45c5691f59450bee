// What is drawn of boxes, capsules, cylinders and distance fields: surfaces against closed forms,
// and where they are at the time shown.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/session/frames/scene_info.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/surfaces.hpp"

using namespace hindcast;
using render::Mesh;
using render::Vec3;

namespace {

constexpr double pi = std::numbers::pi;

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec3 minus(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// That outward triangles enclose (divergence theorem).
double volume(const Mesh& mesh) {
    double sum = 0;
    for (std::size_t k = 0; k < mesh.places.size(); k += 3)
        sum += dot(mesh.places[k], cross(mesh.places[k + 1], mesh.places[k + 2])) / 6;
    return sum;
}
// In the plane, of counter-clockwise triangles.
double area(const Mesh& mesh) {
    double sum = 0;
    int negative = 0;
    for (std::size_t k = 0; k < mesh.places.size(); k += 3) {
        const double one = cross(minus(mesh.places[k + 1], mesh.places[k]),
                                 minus(mesh.places[k + 2], mesh.places[k]))[2] /
                           2;
        negative += one < -1e-15;
        sum += one;
    }
    CHECK(negative == 0);
    return sum;
}
// The sum of the triangles' vectors is zero where a surface closes. Each triangle's vertices have
// normals of length 1 on its outer side.
void check_closed(const Mesh& mesh) {
    Vec3 sum{};
    REQUIRE(mesh.normals.size() == mesh.places.size());
    REQUIRE(mesh.places.size() % 3 == 0);
    int inward = 0;
    double longest = 0;
    for (std::size_t k = 0; k < mesh.places.size(); k += 3) {
        const Vec3 n = cross(minus(mesh.places[k + 1], mesh.places[k]),
                             minus(mesh.places[k + 2], mesh.places[k]));
        for (std::size_t v = k; v < k + 3; ++v) {
            longest = std::max(longest, std::abs(dot(mesh.normals[v], mesh.normals[v]) - 1));
            inward += dot(n, mesh.normals[v]) < -1e-14;
        }
        for (std::size_t c = 0; c < 3; ++c) sum[c] += n[c];
    }
    CHECK(inward == 0);
    CHECK(longest < 1e-12);
    CHECK(std::sqrt(dot(sum, sum)) < 1e-12);
}
// The largest |distance| of a vertex.
double farthest(const Mesh& mesh, const auto& distance) {
    double most = 0;
    for (const Vec3& p : mesh.places) most = std::max(most, std::abs(distance(p)));
    return most;
}
// Of a polygon with 48 corners on a circle, over that of the circle.
const double round_part = 48 * std::sin(2 * pi / 48) / (2 * pi);

}  // namespace

TEST_CASE("solids: the surface of a box") {
    const Mesh mesh = test::surface(hindcast::geometry::ShapeKind::box, {0.5, 0.25, 2}, 0, 3);
    check_closed(mesh);
    CHECK(mesh.places.size() == 36);
    CHECK(volume(mesh) == doctest::Approx(8 * 0.25).epsilon(1e-14));
    for (const Vec3& p : mesh.places)
        CHECK(Vec3{std::abs(p[0]), std::abs(p[1]), std::abs(p[2])} == Vec3{0.5, 0.25, 2});
    CHECK(area(test::surface(hindcast::geometry::ShapeKind::box, {0.5, 0.25, 0}, 0, 2)) ==
          doctest::Approx(0.5).epsilon(1e-14));
}

TEST_CASE("solids: the surface of a capsule and of a cylinder along any axis") {
    const double r = 0.3;
    for (const Vec3& half : {Vec3{0.4, -0.2, 0.7}, Vec3{0, 0, -1}, Vec3{2, 0, 0}}) {
        const double h = std::sqrt(dot(half, half));
        const auto split = [&](const Vec3& p) {  // along the axis and from it
            const double along = dot(p, half) / h;
            return std::pair(along, std::sqrt(std::max(dot(p, p) - along * along, 0.0)));
        };
        const Mesh capsule = test::surface(hindcast::geometry::ShapeKind::capsule, half, r, 3);
        check_closed(capsule);
        CHECK(farthest(capsule, [&](const Vec3& p) {
                  const auto [along, out] = split(p);
                  return std::hypot(out, std::max(std::abs(along) - h, 0.0)) - r;
              }) < 1e-7);
        const double whole = 2 * h * pi * r * r + 4 * pi * r * r * r / 3;
        CHECK(volume(capsule) < whole);
        CHECK(volume(capsule) > 0.99 * whole);

        const Mesh cylinder = test::surface(hindcast::geometry::ShapeKind::cylinder, half, r);
        check_closed(cylinder);
        CHECK(volume(cylinder) == doctest::Approx(2 * h * pi * r * r * round_part).epsilon(1e-12));
        CHECK(farthest(cylinder, [&](const Vec3& p) {
                  const auto [along, out] = split(p);
                  return out < 1e-7 ? std::abs(along) - h : std::max(out - r, std::abs(along) - h);
              }) < 1e-7);
    }
    CHECK(area(test::surface(hindcast::geometry::ShapeKind::capsule, {0.3, 0.4, 0}, 0.25, 2)) ==
          doctest::Approx(2 * 0.5 * 2 * 0.25 + pi * 0.0625 * round_part).epsilon(1e-12));
}

TEST_CASE("solids: the surface of a distance field is where its spline is zero") {
    // A quadratic's spline is the quadratic and spacing^2 / 6 of its Laplacian more.
    const double spacing = 0.25, r = 1.5;
    const auto field = [&](std::vector<std::int64_t> counts, const Vec3& off, double curvature) {
        std::vector<double> samples;
        counts.resize(3, 1);
        for (std::int64_t i = 0; i < counts[0]; ++i)
            for (std::int64_t j = 0; j < counts[1]; ++j)
                for (std::int64_t k = 0; k < counts[2]; ++k) {
                    const Vec3 p{spacing * static_cast<double>(2 * i - counts[0] + 1) / 2 - off[0],
                                 spacing * static_cast<double>(2 * j - counts[1] + 1) / 2 - off[1],
                                 spacing * static_cast<double>(2 * k - counts[2] + 1) / 2 - off[2]};
                    samples.push_back(dot(p, p) - r * r - curvature * spacing * spacing / 6);
                }
        return samples;
    };
    const Vec3 center{0.1, -0.05, 0.2};
    const Mesh ball = test::field_surface({21, 20, 24}, spacing, field({21, 20, 24}, center, 6));
    check_closed(ball);
    CHECK(farthest(ball, [&](const Vec3& p) {
              const Vec3 d = minus(p, center);
              return std::sqrt(dot(d, d)) - r;
          }) < 1e-10);
    CHECK(volume(ball) == doctest::Approx(4 * pi * r * r * r / 3).epsilon(0.005));
    CHECK(volume(ball) < 4 * pi * r * r * r / 3);
    for (std::size_t k = 0; k < ball.places.size(); k += 97) {
        const Vec3 d = minus(ball.places[k], center);
        CHECK(dot(d, ball.normals[k]) == doctest::Approx(r).epsilon(1e-10));
    }
    const Mesh disc = test::field_surface({21, 25}, spacing, field({21, 25}, {0.1, -0.05, 0}, 4));
    CHECK(area(disc) == doctest::Approx(pi * r * r).epsilon(0.002));
    CHECK(area(disc) < pi * r * r);
}

namespace {

struct Drawn {
    std::unique_ptr<Simulation> sim;
    std::shared_ptr<session::SceneInfo> scene;
    std::shared_ptr<const std::vector<session::SharedValues>> base;
    session::SharedValues parameters;

    explicit Drawn(const std::string& rest)
        : sim(test::simulate(rest)),
          scene(session::make_scene_info(*sim)),
          base(session::numbers_of(*sim)),
          parameters(std::make_shared<const std::vector<double>>(sim->parameters().values())) {}

    std::size_t number(const std::string& name) const {
        const auto& all = scene->plan.stage->drawables;
        const auto found = std::ranges::find(all, name, &render::Drawable::name);
        REQUIRE(found != all.end());
        CHECK(found->kind == render::Drawable::Kind::solid);
        return static_cast<std::size_t>(found - all.begin());
    }
    Vec3 placed(const std::string& name, const Vec3& p, double time) const {
        return render::placed(scene->drawable_numbers(*base, parameters, time)[number(name)], p);
    }
    std::shared_ptr<const Mesh> mesh(const std::string& name) const {
        return scene->drawable_meshes(*base, parameters)[number(name)];
    }
};

void check(const Vec3& a, const Vec3& b) {
    for (std::size_t c = 0; c < 3; ++c)
        CHECK(a[c] == doctest::Approx(b[c]).scale(1).epsilon(1e-14));
}

}  // namespace

TEST_CASE("session: solids are drawn where they have moved and turned to") {
    Drawn d(R"("time": {"step": 0.1, "steps": 10, "integrator": "implicit_euler"},
        "bodies": [{"type": "particles", "name": "p", "positions": [[9, 9, 9]]}],
        "colliders": [
            {"type": "box", "name": "box", "center": [1, 2, 3], "half_extents": [1, 0.5, 0.25],
             "orientation": [2, 0, 0, 2], "velocity": [1, 0, -1],
             "angular_velocity": [1.5707963267948966, 0, 0], "distance": 0.5, "stiffness": 1},
            {"type": "capsule", "name": "capsule", "start": [0, 0, 0], "end": [2, 0, 0],
             "radius": 0.5, "angular_velocity": [0, 0, 1.5707963267948966], "distance": 0.5, "stiffness": 1},
            {"type": "cylinder", "name": "cylinder", "start": [0, 5, 0], "end": [0, 5, 2],
             "radius": 0.5, "velocity": [0, 2, 0], "distance": 0.5, "stiffness": 1}],
        "parameters": [{"path": "cylinder.radius"}, {"path": "cylinder.end"}])");
    // The quaternion is a quarter turn about z: x becomes y, and that z after 1 s.
    check(d.placed("box", {1, 0, 0}, 0), {1, 3, 3});
    check(d.placed("box", {1, 0, 0}, 1), {2, 2, 3});
    check(d.placed("box", {0, 0.5, 0}, 1), {1.5, 2, 2});
    check(d.placed("box", {0, 0, 0.25}, 1), {2, 1.75, 2});
    // The capsule turns about (1, 0, 0).
    check(d.placed("capsule", {1, 0, 0}, 0), {2, 0, 0});
    check(d.placed("capsule", {1, 0, 0}, 1), {1, 1, 0});
    check(d.placed("cylinder", {0, 0, 1}, 2), {0, 9, 2});
    CHECK(volume(*d.mesh("box")) == doctest::Approx(1).epsilon(1e-14));
    // Meshes are made again where what they depend on is tried at another value, and only there.
    const auto before = d.mesh("cylinder"), still = d.mesh("box");
    CHECK(d.mesh("cylinder") == before);
    std::vector<double> tried = *d.parameters;
    REQUIRE(tried.size() == 4);
    tried[0] *= 2;
    d.parameters = std::make_shared<const std::vector<double>>(tried);
    CHECK(volume(*d.mesh("cylinder")) == doctest::Approx(4 * volume(*before)).epsilon(1e-12));
    CHECK(d.mesh("box") == still);
    // All of them are in the box around the scene at the start.
    CHECK(d.scene->plan.stage->low[0] == doctest::Approx(-0.5));
    CHECK(d.scene->plan.stage->low[1] == doctest::Approx(-0.5));
}

TEST_CASE("session: solids in the plane, and a field from its first node") {
    const Drawn d(R"("dimension": 2,
        "time": {"step": 0.1, "steps": 10, "integrator": "implicit_euler"},
        "bodies": [{"type": "particles", "name": "p", "positions": [[9, 9]]}],
        "colliders": [
            {"type": "box", "name": "box", "center": [1, 2], "half_extents": [1, 0.5],
             "orientation": 1.5707963267948966, "angular_velocity": 3.141592653589793,
             "velocity": [0, 1], "distance": 0.5, "stiffness": 1},
            {"type": "distance_field", "name": "field", "nodes": [41, 31], "origin": [-2, -1],
             "spacing": 0.1, "distances": {"formula": "sqrt((x-2)^2+(y-1.5)^2) - 0.5"},
             "distance": 0.01, "stiffness": 1}])");
    check(d.placed("box", {1, 0, 0}, 0), {1, 3, 0});
    check(d.placed("box", {1, 0, 0}, 1), {1, 2, 0});
    // Its center is that of the ball, which the spline makes smaller by spacing^2 / (6 r).
    check(d.placed("field", {}, 0), {0, 0.5, 0});
    const double r = 0.5 - 0.01 / 3;
    CHECK(area(*d.mesh("field")) == doctest::Approx(pi * r * r).epsilon(0.003));
}
