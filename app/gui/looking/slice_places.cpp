// Places of a slice, its outline and its handle.
#include <algorithm>
#include <cmath>

#include "app/gui/looking/slicing.hpp"

namespace hindcast::gui {

namespace {

using render::Bounds;
using render::cross;
using render::dot;
using render::plus;
using render::Slice;
using render::Vec3;

Vec3 unit(const Vec3& v) { return render::normalized(v, {1, 0, 0}); }
Vec3 middle_of(const Bounds& box) { return plus(plus({}, box.low, 0.5), box.high, 0.5); }
Vec3 corner_of(const Bounds& box, unsigned bits) {
    Vec3 corner{};
    for (std::size_t c = 0; c < 3; ++c)
        corner[c] = (bits >> c & 1U) != 0 ? box.high[c] : box.low[c];
    return corner;
}

}  // namespace

Bounds box_of(const render::Stage& stage) {
    double largest = 0;
    for (std::size_t c = 0; c < 3; ++c) largest = std::max(largest, stage.high[c] - stage.low[c]);
    const double room = 0.05 * (largest > 0 ? largest : 1);
    Bounds box{stage.low, stage.high};
    for (std::size_t c = 0; c < 3; ++c) {
        box.low[c] -= room;
        box.high[c] += room;
    }
    return box;
}

Slice slice_before(const render::Camera& camera, const Bounds& box) {
    const Vec3 back = plus(camera.eye, camera.target, -1);
    std::size_t axis = 0;
    for (const std::size_t c : {1UL, 2UL})
        if (std::abs(back[c]) > std::abs(back[axis])) axis = c;
    Slice slice{{0, 0, 0}, 0};
    slice.normal[axis] = back[axis] < 0 ? -1 : 1;
    slice.offset = dot(slice.normal, middle_of(box));
    return slice;
}

Slice turned(const Slice& slice, const Vec3& normal, const Bounds& box) {
    const std::array<double, 2> before = slice_range(slice, box);
    const double part = (slice.offset - before[0]) / (before[1] - before[0]);
    Slice other{unit(normal), 0};
    const std::array<double, 2> after = slice_range(other, box);
    other.offset = after[0] + part * (after[1] - after[0]);
    return other;
}

std::array<double, 2> slice_range(const Slice& slice, const Bounds& box) {
    const Vec3 normal = unit(slice.normal);
    std::array<double, 2> range{INFINITY, -INFINITY};
    for (unsigned k = 0; k < 8; ++k) {
        const double along = dot(normal, corner_of(box, k));
        range = {std::min(range[0], along), std::max(range[1], along)};
    }
    return range;
}

std::vector<Vec3> slice_outline(const Slice& slice, const Bounds& box) {
    const Vec3 normal = unit(slice.normal);
    std::vector<Vec3> corners;
    for (unsigned k = 0; k < 8; ++k)
        for (unsigned axis = 1; axis < 8; axis <<= 1U) {
            if ((k & axis) != 0) continue;
            const Vec3 a = corner_of(box, k), b = corner_of(box, k | axis);
            const double before = dot(normal, a) - slice.offset,
                         behind = dot(normal, b) - slice.offset;
            if ((before > 0) == (behind > 0)) continue;
            corners.push_back(plus(a, plus(b, a, -1), before / (before - behind)));
        }
    if (corners.size() < 3) return {};
    Vec3 middle{};
    for (const Vec3& corner : corners)
        middle = plus(middle, corner, 1.0 / static_cast<double>(corners.size()));
    // By the angle around the middle.
    const Vec3 x = unit(plus(corners.front(), middle, -1)), y = cross(normal, x);
    std::ranges::sort(corners, {}, [&](const Vec3& corner) {
        const Vec3 off = plus(corner, middle, -1);
        return std::atan2(dot(off, y), dot(off, x));
    });
    return corners;
}

Vec3 slice_handle(const Slice& slice, const Bounds& box) {
    const Vec3 normal = unit(slice.normal), middle = middle_of(box);
    return plus(middle, normal, slice.offset - dot(normal, middle));
}

double moved_along(const Slice& slice, const Vec3& handle, const render::Camera& camera, int width,
                   int height, const std::array<double, 2>& by) {
    constexpr double least = 0.4;  // of the pixels that a meter across the line of sight has
    const Vec3 normal = unit(slice.normal), back = plus(camera.eye, camera.target, -1);
    const double away = std::sqrt(dot(back, back)), step = 1e-3 * away;
    const auto start = render::project(camera, handle, width, height);
    const auto end = render::project(camera, plus(handle, normal, step), width, height);
    if (!start || !end) return 0;
    std::array<double, 2> along{(*end)[0] - (*start)[0], (*end)[1] - (*start)[1]};
    const double seen = std::hypot(along[0], along[1]);
    // A way across the line of sight, as long as the step.
    Vec3 side = cross(back, std::abs(back[2]) < 0.9 * away ? Vec3{0, 0, 1} : Vec3{1, 0, 0});
    const auto other = render::project(camera, plus(handle, unit(side), step), width, height);
    if (!other) return 0;
    const double across = std::hypot((*other)[0] - (*start)[0], (*other)[1] - (*start)[1]);
    // Straight to the eye, nearer is down.
    if (seen < 1e-6 * across) along = {0, dot(normal, back) > 0 ? 1.0 : -1.0};
    const double unit_length = std::hypot(along[0], along[1]);
    const double pixels = (by[0] * along[0] + by[1] * along[1]) / unit_length;
    return step * pixels / std::max(seen, least * across);
}

}  // namespace hindcast::gui
