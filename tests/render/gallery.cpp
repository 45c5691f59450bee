#include "tests/render/gallery.hpp"

#include <cmath>
#include <utility>

#include "app/session/frames/solid_source.hpp"
#include "tests/support/surfaces.hpp"

namespace hindcast::test {

using namespace render;

namespace {

constexpr double pi = 3.14159265358979323846;

// A cloth of n x n points, waving, colored by height.
void add_cloth(StageMaker& maker, int n, Vec3 corner, double size, bool ghost) {
    std::vector<double> places, heights;
    std::vector<std::uint32_t> corners;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double u = static_cast<double>(i) / (n - 1), v = static_cast<double>(j) / (n - 1);
            const double h = 0.12 * std::sin(2 * pi * (u + 0.4 * v)) * (0.3 + u);
            places.insert(places.end(),
                          {corner[0] + size * u, corner[1] + size * v, corner[2] + h});
            heights.push_back(h);
            if (i + 1 < n && j + 1 < n) {
                const auto a = static_cast<std::uint32_t>(i * n + j),
                           c = static_cast<std::uint32_t>(a + n);
                corners.insert(corners.end(), {a, c, a + 1, a + 1, c, c + 1});
            }
        }
    const std::string name = ghost ? "ghost" : "cloth";
    Drawable& cloth = maker.surface(maker.channel(name + " position", 3, places), corners);
    cloth.name = name;
    cloth.ghost = ghost;
    if (!ghost) cloth.values = maker.channel("height", 1, heights);
    cloth.values_per_point = true;
}

// Eight cubes of one body: sharp edges.
void add_block(StageMaker& maker, Vec3 low, double size) {
    std::vector<double> places;
    for (unsigned k = 0; k < 8; ++k)
        for (unsigned c = 0; c < 3; ++c) places.push_back(low[c] + ((k >> c & 1U) != 0 ? size : 0));
    const std::vector<std::uint32_t> corners = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6,
                                                0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7,
                                                0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    Drawable& block = maker.surface(maker.channel("block", 3, places), corners);
    block.name = "block";
    block.color = {0.36F, 0.56F, 0.74F, 1};
}

}  // namespace

StageMaker solid_gallery(RealType real) {
    StageMaker maker;
    maker.stage.real = real;
    maker.stage.low = {-1.3, -1.2, 0};
    maker.stage.high = {1.3, 1.2, 1.3};

    // A cage of springs with a ball at each point.
    std::vector<double> places, speeds, forces;
    std::vector<std::uint32_t> ends;
    constexpr int n = 3;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < n; ++k) {
                places.insert(places.end(), {-1.0 + 0.28 * i, -0.9 + 0.28 * j, 0.08 + 0.28 * k});
                speeds.push_back(k + 0.4 * i);
                forces.insert(forces.end(), {0.1 * (i - 1), 0.1 * (j - 1), 0.16 * k});
                const auto at = static_cast<std::uint32_t>((i * n + j) * n + k);
                if (i + 1 < n) ends.insert(ends.end(), {at, at + n * n});
                if (j + 1 < n) ends.insert(ends.end(), {at, at + n});
                if (k + 1 < n) ends.insert(ends.end(), {at, at + 1});
            }
    const int position = maker.channel("position", 3, places);
    Drawable& balls = maker.points(position, n * n * n, 0.055);
    balls.name = "cage points";
    balls.color = {0.85F, 0.55F, 0.33F, 1};
    Drawable& springs = maker.segments(position, ends, 0.014);
    springs.name = "cage springs";
    springs.color = {0.70F, 0.72F, 0.76F, 1};
    const int force = maker.channel("force", 3, forces);
    Drawable& arrows = maker.add(Drawable::Kind::arrows, "forces");
    arrows.places = position;
    arrows.values = force;
    arrows.count = n * n * n;
    arrows.color = {0.95F, 0.80F, 0.30F, 1};

    add_cloth(maker, 25, {-0.1, -0.3, 0.75}, 1.1, false);
    add_cloth(maker, 25, {-0.1, -0.3, 1.05}, 1.1, true);
    add_block(maker, {-0.2, 0.5, 0.0}, 0.45);
    maker.with_numbers(Drawable::Kind::ball, "obstacle", {0.55, -0.65, 0.3, 0.3}).color = {
        0.62F, 0.42F, 0.60F, 1};
    const auto add_solid = [&](const char* name, Mesh mesh, const Vec3& center, double angle) {
        maker.solid(name, std::move(mesh), center, angle).color = {0.45F, 0.62F, 0.55F, 1};
    };
    add_solid("box", test::surface(hindcast::geometry::ShapeKind::box, {0.15, 0.1, 0.12}, 0, 3),
              {1, -0.1, 0.12}, 0.5);
    add_solid("capsule",
              test::surface(hindcast::geometry::ShapeKind::capsule, {0.12, 0, 0.16}, 0.08, 3),
              {1, 0.35, 0.24}, 0.8);
    add_solid("cylinder", test::surface(hindcast::geometry::ShapeKind::cylinder, {0, 0, 0.2}, 0.12),
              {0.95, 0.8, 0.2}, 0);
    maker.with_numbers(Drawable::Kind::box_edges, "walls", {-1.25, -1.15, 0, 1.25, 1.15, 1.25});
    maker.with_numbers(Drawable::Kind::markers, "targets", {0.9, -0.9, 0.9, -0.7, 0.9, 0.5})
        .color = {0.35F, 0.90F, 0.55F, 1};
    maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 0, 1, 0}).color = {0.42F, 0.44F,
                                                                                    0.48F, 1};
    return maker;
}

StageMaker plane_gallery(RealType real) {
    StageMaker maker;
    maker.stage.real = real;
    maker.stage.dimension = 2;
    maker.stage.low = {0, -0.3, 0};
    maker.stage.high = {3, 1.5, 0};
    constexpr int rows = 40, columns = 30;
    std::vector<double> field;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) field.push_back(std::sin(0.3 * i) * std::cos(0.25 * j));
    field[5 * columns + 5] = std::nan("");
    maker.field(maker.channel("height", 1, field), rows, columns, 0.03);

    std::vector<double> places;
    std::vector<std::uint32_t> ends, corners;
    constexpr int n = 7;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            places.insert(places.end(), {1.6 + 0.13 * i + 0.02 * j, 0.4 + 0.13 * j});
            const auto at = static_cast<std::uint32_t>(i * n + j);
            if (i + 1 < n && j + 1 < n) {
                corners.insert(corners.end(), {at, at + n, at + 1, at + 1, at + n, at + n + 1});
                ends.insert(ends.end(), {at, at + n, at, at + 1});
            }
        }
    const int position = maker.channel("position", 2, places);
    Drawable& body = maker.surface(position, corners);
    body.color = {0.35F, 0.55F, 0.75F, 1};
    maker.segments(position, ends, 0.006).color = {0.9F, 0.9F, 0.92F, 1};
    maker.points(position, n * n, 0.025).color = {0.95F, 0.62F, 0.3F, 1};
    maker.with_numbers(Drawable::Kind::half_space, "ground", {0.1, 1, 0, 0}).color = {0.55F, 0.57F,
                                                                                      0.6F, 1};
    maker.with_numbers(Drawable::Kind::ball, "obstacle", {2.7, 0.4, 0, 0.2}).color = {0.62F, 0.42F,
                                                                                      0.60F, 1};
    maker
        .solid("box", test::surface(hindcast::geometry::ShapeKind::box, {0.15, 0.08, 0}, 0, 2),
               {2.75, 0.85, 0}, 0.5)
        .color = {0.45F, 0.62F, 0.55F, 1};
    maker.with_numbers(Drawable::Kind::box_edges, "walls", {0, 0, 0, 3, 1.45, 0});
    maker.with_numbers(Drawable::Kind::markers, "targets", {2.75, 1.1, 0}).color = {0.35F, 0.90F,
                                                                                    0.55F, 1};
    return maker;
}

StageMaker wave_gallery() {
    StageMaker maker;
    maker.stage.dimension = 2;
    constexpr int n = 96;
    maker.stage.high = {1.9, 1.9, 0};
    maker.stage.low = {0, 0, 0};
    std::vector<double> field;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double r = std::hypot(i - 40.0, j - 55.0) * 0.02;
            field.push_back(std::cos(14 * r) * std::exp(-2.5 * r));
        }
    maker.field(maker.channel("height", 1, field), n, n, 0.02);
    return maker;
}

StageMaker particle_gallery(int count) {
    StageMaker maker;
    maker.stage.low = {-1, -1, 0};
    maker.stage.high = {1, 1, 2};
    std::vector<double> places, heights;
    // A heap by the golden angle, in shells.
    for (int k = 0; k < count; ++k) {
        const double t = (k + 0.5) / count, z = 2 * std::fmod(k * 0.7548776662466927, 1.0) - 1;
        const double angle = 2 * pi * std::fmod(k * 0.5698402909980532, 1.0);
        const double r = std::cbrt(t), flat = r * std::sqrt(1 - z * z);
        places.insert(places.end(), {flat * std::cos(angle), flat * std::sin(angle), 1 + r * z});
        heights.push_back(1 + r * z);
    }
    Drawable& points =
        maker.points(maker.channel("position", 3, places), count, 0.6 / std::cbrt(count));
    points.values = maker.channel("height", 1, heights);
    return maker;
}

View gallery_view(const StageMaker& maker, int width, int height, bool dark) {
    View view;
    view.width = width;
    view.height = height;
    view.camera = default_camera(maker.stage, static_cast<double>(width) / height);
    if (!dark) {
        view.dark = false;
        view.background_top = {0.95F, 0.96F, 0.97F, 1};
        view.background_bottom = {0.80F, 0.83F, 0.86F, 1};
    }
    return view;
}

}  // namespace hindcast::test
