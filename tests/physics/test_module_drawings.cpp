// What modules say about their looks: the right places, and surfaces that close.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/document/document.hpp"
#include "kernels/solids/mesh.hpp"
#include "tests/physics/module_scene.hpp"

using namespace hindcast;

namespace {

// Six times the volume that a closed surface of outward triangles encloses (divergence theorem).
double enclosed(const solids::Mesh& mesh, const solids::Mesh::Surface& surface) {
    double sum = 0;
    for (const auto& t : surface.triangles) {
        const auto p = [&](std::size_t corner, std::size_t axis) {
            return mesh.points[static_cast<std::size_t>(3 * t[corner]) + axis % 3];
        };
        for (std::size_t a = 0; a < 3; ++a)
            sum += p(0, a) * (p(1, a + 1) * p(2, a + 2) - p(1, a + 2) * p(2, a + 1));
    }
    return sum;
}

template <class Shape>
std::vector<std::pair<std::string, Shape>> drawn(Simulation& s) {
    std::vector<std::pair<std::string, Shape>> found;
    for (const model::Drawing& d : s.model().drawings())
        if (const Shape* shape = std::get_if<Shape>(&d.shape)) found.emplace_back(d.owner, *shape);
    return found;
}

}  // namespace

TEST_CASE("drawings: the surface of a box of tetrahedra closes and encloses its volume") {
    const auto document = document::Document::parse(
        R"({"box": {"min": [1, 2, 3], "max": [3, 5, 7.5], "cells": [2, 3, 4]}})");
    const solids::Mesh mesh = solids::read_mesh(document.root(), 3);
    const solids::Mesh::Surface surface = mesh.surface();
    // Two triangles for each square of the border.
    CHECK(surface.triangles.size() == 2 * 2 * (2 * 3 + 3 * 4 + 4 * 2));
    CHECK(enclosed(mesh, surface) == doctest::Approx(6 * 2 * 3 * 4.5).epsilon(1e-12));
    std::map<std::pair<std::int64_t, std::int64_t>, int> edges;
    for (const auto& t : surface.triangles)
        for (std::size_t k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
    for (const auto& [edge, count] : edges) {
        CHECK(count == 1);
        CHECK(edges.contains({edge.second, edge.first}));
    }
    for (std::size_t k = 0; k < surface.triangles.size(); ++k) {
        const auto element = mesh.corners.begin() + 4 * surface.element_of[k];
        for (const std::int64_t p : surface.triangles[k])
            CHECK(std::find(element, element + 4, p) != element + 4);
    }
}

TEST_CASE("drawings: tetrahedra of either orientation") {
    const auto mesh_of = [](const char* elements) {
        return solids::read_mesh(
            document::Document::parse(
                std::string(R"({"points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[1,1,1]], )") +
                R"("tetrahedra": )" + elements + "}")
                .root(),
            3);
    };
    for (const char* elements : {"[[0,1,2,3],[1,2,3,4]]", "[[1,0,2,3],[2,1,3,4]]"}) {
        const solids::Mesh mesh = mesh_of(elements);
        const solids::Mesh::Surface surface = mesh.surface();
        CHECK(surface.triangles.size() == 6);
        // Volumes 1/6 and 1/3.
        CHECK(enclosed(mesh, surface) == doctest::Approx(3).epsilon(1e-12));
    }
}

TEST_CASE("drawings: points, springs, colliders and targets are where the scene says") {
    const auto s = test::simulate(R"("time": {"step": 0.01, "steps": 1},
        "bodies": [{"type": "particles", "name": "a", "positions": [[0,0,1],[1,0,1]]},
                   {"type": "particles", "name": "b", "positions": [[2,0,1]]}],
        "forces": [{"type": "springs", "name": "s", "connect": [["a", 1, "b", 0]],
                    "stiffness": 1, "rest_length": "initial"}],
        "colliders": [{"type": "plane", "name": "ground", "normal": [0,0,2], "offset": 0.5},
                      {"type": "sphere", "name": "ball", "center": [1,2,3], "radius": 4}],
        "objective": [{"type": "point_target", "name": "goal", "of": "b", "target": [1,1,1]}])");
    const auto points = drawn<model::DrawnPoints>(*s);
    REQUIRE(points.size() == 2);
    CHECK(points[0].first == "a");
    CHECK(points[0].second.count == 2);
    CHECK(points[1].second.first == 2);
    CHECK(points[1].second.count == 1);
    const auto segments = drawn<model::DrawnSegments>(*s);
    REQUIRE(segments.size() == 1);
    CHECK(segments[0].second.ends == std::vector<std::uint32_t>{1, 2});
    const auto planes = drawn<model::DrawnHalfSpace>(*s);
    REQUIRE(planes.size() == 1);
    CHECK(planes[0].first == "ground");
    CHECK(planes[0].second.normal->values == std::vector<double>{0, 0, 2});
    CHECK(planes[0].second.offset->values == std::vector<double>{0.5});
    const auto balls = drawn<model::DrawnBall>(*s);
    REQUIRE(balls.size() == 1);
    CHECK(balls[0].second.radius->values == std::vector<double>{4});
    const auto targets = drawn<model::DrawnTargets>(*s);
    REQUIRE(targets.size() == 1);
    CHECK(targets[0].second.places->values == std::vector<double>{1, 1, 1});
}

TEST_CASE("drawings: the field of a wave, and the walls of a grid of material points") {
    const auto wave = test::simulate(R"("dimension": 2, "time": {"step": 0.01, "steps": 1},
        "bodies": [{"type": "waves", "name": "w", "nodes": [5, 7], "spacing": 0.25,
                    "speed": 1}])");
    const auto fields = drawn<model::DrawnField>(*wave);
    REQUIRE(fields.size() == 1);
    CHECK(fields[0].second.rows == 5);
    CHECK(fields[0].second.columns == 7);
    CHECK(fields[0].second.spacing == 0.25);
    CHECK(fields[0].second.values.same_memory(wave->model().array("w.field")));

    const auto points = test::simulate(R"("dimension": 2, "time": {"step": 0.001, "steps": 1},
        "bodies": [{"type": "material_points", "name": "m", "positions": [[0.5, 0.5]],
                    "mass": 1, "volume": 0.01, "young_modulus": 1, "poisson_ratio": 0.2}],
        "forces": [{"type": "mpm_grid", "name": "g", "nodes": [21, 31], "spacing": 0.1,
                    "origin": [-0.5, 0], "wall_nodes": 3}])");
    const auto frames = drawn<model::DrawnFrame>(*points);
    REQUIRE(frames.size() == 1);
    // Walls act at nodes 0 to 2 and from the third last on.
    const double low[] = {-0.5 + 0.3, 0.3}, high[] = {-0.5 + 1.7, 2.7};
    for (std::size_t a = 0; a < 2; ++a) {
        CHECK(frames[0].second.low[a] == doctest::Approx(low[a]));
        CHECK(frames[0].second.high[a] == doctest::Approx(high[a]));
    }
}
