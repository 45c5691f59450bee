// The user's hand on the camera, and the way from the world to pixels and back. No Vulkan.
#include <algorithm>
#include <cmath>

#define GLM_FORCE_DEPTH_ZERO_TO_ONE
#include <glm/glm.hpp>
#include <glm/gtc/matrix_transform.hpp>

#include "app/render/camera_axes.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::render {

namespace {

constexpr double tiny = 1e-9;

glm::dvec3 of(const Vec3& v) { return {v[0], v[1], v[2]}; }
Vec3 to(const glm::dvec3& v) { return {v.x, v.y, v.z}; }

double half_tangent(const Camera& camera) {
    return std::tan(glm::radians(std::clamp(camera.field_of_view, 1.0, 170.0)) / 2);
}

// The height of the visible world at the target, m.
double height_at_target(const Camera& camera) {
    if (camera.orthographic) return camera.height;
    return 2 * glm::distance(of(camera.eye), of(camera.target)) * half_tangent(camera);
}

}  // namespace

Axes axes_of(const Camera& camera) {
    const glm::dvec3 between = of(camera.target) - of(camera.eye);
    const double distance = std::max(glm::length(between), tiny);
    const glm::dvec3 forward =
        glm::length(between) > tiny ? between / distance : glm::dvec3(0, 0, -1);
    glm::dvec3 right = glm::cross(forward, of(camera.up));
    if (glm::length(right) < 1e-6)
        right = glm::cross(forward,
                           std::abs(forward.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0));
    right = glm::normalize(right);
    return {to(right), to(glm::cross(right, forward)), to(forward), distance, half_tangent(camera)};
}

void orbit(Camera& camera, double right_degrees, double up_degrees) {
    const glm::dvec3 up = glm::normalize(of(camera.up)), target = of(camera.target);
    const Axes axes = axes_of(camera);
    glm::dvec3 arm = of(camera.eye) - target;
    // Not over the poles: the horizon stays level.
    const double polar =
        glm::degrees(std::acos(std::clamp(glm::dot(glm::normalize(arm), up), -1.0, 1.0)));
    constexpr double margin = 0.5;
    const double rise = polar - std::clamp(polar - up_degrees, margin, 180 - margin);
    arm = glm::dvec3(glm::rotate(glm::dmat4(1), glm::radians(-rise), of(axes.right)) *
                     glm::dvec4(arm, 0));
    arm = glm::dvec3(glm::rotate(glm::dmat4(1), glm::radians(-right_degrees), up) *
                     glm::dvec4(arm, 0));
    camera.eye = to(target + arm);
}

void pan(Camera& camera, double right_pixels, double up_pixels, int view_height) {
    const double meters = height_at_target(camera) / std::max(view_height, 1);
    const Axes axes = axes_of(camera);
    const glm::dvec3 move = -(right_pixels * of(axes.right) + up_pixels * of(axes.up)) * meters;
    camera.eye = to(of(camera.eye) + move);
    camera.target = to(of(camera.target) + move);
}

void zoom(Camera& camera, double factor, double cursor_x, double cursor_y, double aspect) {
    // The place under the cursor at the target's depth stays there.
    const Axes axes = axes_of(camera);
    const double half = height_at_target(camera) / 2;
    const glm::dvec3 cursor =
        of(axes.right) * (cursor_x * half * aspect) + of(axes.up) * (cursor_y * half);
    const double limited = std::clamp(factor, 1e-3, 1e3);
    const glm::dvec3 move = cursor * (1 - 1 / limited);
    const glm::dvec3 target = of(camera.target) + move;
    const glm::dvec3 arm = of(camera.eye) - of(camera.target);
    camera.target = to(target);
    camera.eye = to(target + (camera.orthographic ? arm : arm / limited));
    camera.height /= limited;
}

void frame_box(Camera& camera, const Vec3& low, const Vec3& high, double aspect) {
    const glm::dvec3 center = (of(low) + of(high)) / 2.0;
    const Axes axes = axes_of(camera);
    constexpr double margin = 1.12;
    // Each corner must fit into the four side planes; the farthest needed distance wins.
    double distance = 0, half_height = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const glm::dvec3 p =
            glm::dvec3((corner & 1) ? high[0] : low[0], (corner & 2) ? high[1] : low[1],
                       (corner & 4) ? high[2] : low[2]) -
            center;
        const double x = std::abs(glm::dot(p, of(axes.right))) / aspect,
                     y = std::abs(glm::dot(p, of(axes.up))), z = glm::dot(p, of(axes.forward));
        distance = std::max(distance, std::max(x, y) * margin / axes.half_tangent - z);
        half_height = std::max({half_height, x, y});
    }
    if (!(distance > tiny) || !std::isfinite(distance)) distance = 1;
    camera.height = half_height > tiny ? 2 * half_height * margin : 2;
    camera.target = to(center);
    if (camera.orthographic) distance = std::max(distance, axes.distance);
    camera.eye = to(center - of(axes.forward) * distance);
}

Camera default_camera(const Stage& stage, double aspect) {
    Camera camera;
    if (stage.dimension == 2) {
        camera.orthographic = true;
        camera.up = {0, 1, 0};
        camera.target = {(stage.low[0] + stage.high[0]) / 2, (stage.low[1] + stage.high[1]) / 2, 0};
        camera.eye = {camera.target[0], camera.target[1], 1};
    } else if (stage.up == 'y') {
        camera.up = {0, 1, 0};
        camera.eye = {0.9, 0.62, 1.5};
    } else {
        camera.up = {0, 0, 1};
        camera.eye = {0.9, -1.5, 0.62};
    }
    frame_box(camera, stage.low, stage.high, aspect);
    return camera;
}

void look_from(Camera& camera, Side side, char up) {
    const glm::dvec3 above = up == 'y' ? glm::dvec3(0, 1, 0) : glm::dvec3(0, 0, 1);
    const glm::dvec3 front = up == 'y' ? glm::dvec3(0, 0, 1) : glm::dvec3(0, -1, 0);
    // From above and below the horizon is that of a camera which came over the front.
    constexpr double beside_the_pole = 1e-4;
    glm::dvec3 direction = front;
    switch (side) {
        case Side::front: break;
        case Side::back: direction = -front; break;
        case Side::right: direction = glm::dvec3(1, 0, 0); break;
        case Side::left: direction = glm::dvec3(-1, 0, 0); break;
        case Side::top: direction = glm::normalize(above + beside_the_pole * front); break;
        case Side::bottom: direction = glm::normalize(-above + beside_the_pole * front); break;
    }
    const double distance = glm::distance(of(camera.eye), of(camera.target));
    camera.eye = to(of(camera.target) + direction * std::max(distance, tiny));
    camera.up = to(above);
}

void set_orthographic(Camera& camera, bool on) {
    const double height = height_at_target(camera);
    if (on == camera.orthographic) return;
    const Axes axes = axes_of(camera);
    camera.orthographic = on;
    camera.height = height;
    if (!on)
        camera.eye = to(of(camera.target) - of(axes.forward) * (height / 2 / axes.half_tangent));
}

std::array<double, 16> view_matrix(const Camera& camera) {
    const Axes axes = axes_of(camera);
    const glm::dvec3 r = of(axes.right), u = of(axes.up), f = of(axes.forward), e = of(camera.eye);
    return {r.x,
            u.x,
            -f.x,
            0,
            r.y,
            u.y,
            -f.y,
            0,
            r.z,
            u.z,
            -f.z,
            0,
            -glm::dot(r, e),
            -glm::dot(u, e),
            glm::dot(f, e),
            1};
}

std::array<double, 16> projection_matrix(const Camera& camera, double aspect) {
    const Axes axes = axes_of(camera);
    glm::dmat4 m;
    if (camera.orthographic) {
        const double half = camera.height / 2, reach = 50 * (axes.distance + camera.height);
        m = glm::ortho(-half * aspect, half * aspect, -half, half, -reach, reach);
    } else {
        m = glm::perspective(2 * std::atan(axes.half_tangent), aspect, axes.distance / 200,
                             axes.distance * 500);
    }
    m[1][1] = -m[1][1];  // y points down
    std::array<double, 16> result{};
    for (int column = 0; column < 4; ++column)
        for (int row = 0; row < 4; ++row)
            result[static_cast<std::size_t>(column) * 4 + static_cast<std::size_t>(row)] =
                m[column][row];
    return result;
}

Ray ray_through(const Camera& camera, double x, double y, int width, int height) {
    const Axes axes = axes_of(camera);
    const double h = std::max(height, 1), right = (2 * x - width) / h, up = (h - 2 * y) / h;
    if (camera.orthographic) {
        const double half = camera.height / 2;
        const glm::dvec3 origin =
            of(camera.eye) + (right * half) * of(axes.right) + (up * half) * of(axes.up);
        return {to(origin), axes.forward};
    }
    const glm::dvec3 direction = of(axes.forward) + (right * axes.half_tangent) * of(axes.right) +
                                 (up * axes.half_tangent) * of(axes.up);
    return {camera.eye, to(glm::normalize(direction))};
}

std::optional<std::array<double, 2>> project(const Camera& camera, const Vec3& place, int width,
                                             int height) {
    const Axes axes = axes_of(camera);
    const glm::dvec3 p = of(place) - of(camera.eye);
    double scale = camera.height / 2;
    if (!camera.orthographic) {
        const double depth = glm::dot(p, of(axes.forward));
        if (depth <= axes.distance * 1e-3) return std::nullopt;
        scale = depth * axes.half_tangent;
    }
    const double half = height / 2.0;
    return std::array{width / 2.0 + glm::dot(p, of(axes.right)) / scale * half,
                      half - glm::dot(p, of(axes.up)) / scale * half};
}

}  // namespace hindcast::render
