// Obstacles of the response "barrier", traced: where one is at a time, and how far a point is from
// it.
//
//     plane           n.(x - v t) - offset
//     sphere          |x - c| - r
//     capsule         |p - clamp(p.e / e.e, -1, 1) e| - r,   p = x - c, e half of its axis
//     box             |max(q, 0)| + min(max_k q_k, 0),       q = |R^T (x - c)| - half extents
//     cylinder        the same of q = (distance from the axis - r, |distance along it| - |e|)
//     distance field  a cubic B-spline whose coefficients are the given values: twice continuously
//                     differentiable. It is the given function exactly where that is linear, and
//                     otherwise f + spacing^2 / 6 (Laplacian of f), to fourth order: a ball of
//                     radius r becomes smaller by (dimension - 1) spacing^2 / (6 r). Beyond the
//                     grid, what is farther from it than the border is: no barrier reaches there.
//
// All are exact distances outside of the solid, but for the last. The centre c moves by v t; what
// turns has turned about it by exp(omega t) at the time t.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/ad/grad.hpp"
#include "engine/lang/control.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/quaternion.hpp"

namespace hindcast::barrier {

enum class Solid : std::uint8_t { plane, sphere, capsule, box, cylinder, distance_field };

struct Form {
    Solid solid = Solid::plane;
    bool translates = false, turns = false, oriented = false;
    bool smoothed = false;             // its friction
    std::int64_t first = 0;            // of the points that it meets
    std::vector<std::int64_t> counts;  // of a distance field: nodes along each axis
    double spacing = 0;

    bool moves() const { return translates || turns; }
    // Every point of a convex solid is on one side of the plane through the nearest point.
    bool is_convex() const { return solid != Solid::distance_field; }
    bool has_axis() const { return solid == Solid::capsule || solid == Solid::cylinder; }
    // How much faster than the way a distance can change. The spline's slope along an axis is at
    // most that of the values, which is 1.
    double steepest() const {
        return is_convex() ? 1 : 1.000002 * std::sqrt(static_cast<double>(counts.size()));
    }
    double half_diagonal() const {  // of the grid, m
        double square = 0;
        for (const std::int64_t n : counts)
            square += std::pow(0.5 * spacing * static_cast<double>(n - 1), 2);
        return std::sqrt(square);
    }
};

// An angular velocity, and an orientation: an angle or a quaternion (w, x, y, z).
template <int D>
using Spin = std::conditional_t<D == 3, lang::Vec3, lang::Float>;
template <int D>
using Orientation = std::conditional_t<D == 3, lang::Vec4, lang::Float>;

template <int D>
lang::Mat<lang::Float, D, D> rotation_by(const Spin<D>& r) {
    if constexpr (D == 3) {
        return to_matrix(exponential(r));
    } else {
        lang::Mat<lang::Float, 2, 2> m;
        m(0, 0) = m(1, 1) = cos(r);
        m(1, 0) = sin(r);
        m(0, 1) = -sin(r);
        return m;
    }
}
// omega x r
template <int D>
lang::Vec<lang::Float, D> turned_velocity(const Spin<D>& omega,
                                          const lang::Vec<lang::Float, D>& r) {
    if constexpr (D == 3)
        return cross(omega, r);
    else
        return lang::Vec2(-omega * r.y(), omega * r.x());
}

// An obstacle where it is at one time.
template <int D>
struct Obstacle {
    using Float = lang::Float;
    using Int = lang::Int;
    using V = lang::Vec<Float, D>;

    const Form* form;
    V centre;                          // of a plane: how far it has moved
    lang::Mat<Float, D, D> rotation;   // from its own axes
    V extent;                          // the normal; half of the axis; half extents
    Float size;                        // offset or radius
    std::function<Float(Int)> sample;  // of a distance field

    explicit Obstacle(const Form& of) : form(&of) {}

    // Negative inside. At most as steep as Form::steepest().
    Float distance(const V& x) const {
        const V p = x - centre;
        switch (form->solid) {
            case Solid::plane: return (dot(extent, p) - size).name("distance");
            case Solid::sphere: return (norm(p) - size).name("distance");
            case Solid::capsule: {
                const Float along = clamp(dot(p, extent) / dot(extent, extent), -1.0, 1.0);
                return (norm(p - along * extent) - size).name("distance");
            }
            case Solid::cylinder: {
                const Float half = norm(extent);
                const V axis = extent / half;
                const Float along = dot(p, axis);
                return outside(lang::Vec2(norm(p - along * axis) - size, abs(along) - half))
                    .name("distance");
            }
            case Solid::box: {
                V q = transpose(rotation) * p;
                for (int k = 0; k < D; ++k) q[k] = abs(q[k]) - extent[k];
                return outside(q).name("distance");
            }
            case Solid::distance_field: break;
        }
        const Located at(*this, p);
        const Float there = spline(at.within);
        return select(at.beyond > 0.0, norm(lang::Vec2(there, at.beyond)), there).name("distance");
    }
    // No part of the obstacle is nearer.
    Float clearance(const V& x) const {
        if (form->is_convex()) return distance(x);
        const Located at(*this, x - centre);
        const Float there = spline(at.within) / form->steepest();
        return select(at.beyond > 0.0, norm(lang::Vec2(there, at.beyond)), there);
    }
    // The gradient of the distance.
    V normal(const V& x) const {
        if (form->solid == Solid::plane) return extent;
        const V at = ad::variable(x);
        return ad::grad(distance(at), at);
    }
    // By how much at most a way `u` of the point comes nearer to the obstacle, whose normal there
    // is n.
    Float approach(const V& u, const V& n) const {
        return form->is_convex() ? max(-dot(n, u), 0.0) : norm(u);
    }
    // The part of the way along `step` after which at least a tenth of the distance is left; at
    // most 1.
    Float limit(const V& x, const V& step) const {
        if (form->solid == Solid::sphere) return limit_of_sphere(x, step);
        const Float kept = 0.1 * clearance(x);
        Float part = 0;
        const auto advance = [&] {
            const V at = x + part * step;
            const V n = form->is_convex() ? normal(at) : V();
            const Float room = max(clearance(at) - kept, 0.0), rate = approach(step, n);
            const Float rest = 1.0 - part;
            part += select(rate * rest > room, room / rate, rest);
        };
        // One round is exact for a plane. The others come nearer with each.
        const int rounds = form->solid == Solid::plane ? 1 : form->is_convex() ? 12 : 24;
        Int round = 0;
        lang::while_([&] { return part < 1.0 && round < rounds; },
                     [&] {
                         advance();
                         round += 1;
                     },
                     rounds + 1);
        return min(part, 1.0);
    }

private:
    static Float outside(const auto& q) {
        constexpr int n = std::decay_t<decltype(q)>::size;
        Float most = q[0];
        for (int k = 1; k < n; ++k) most = max(most, q[k]);
        return norm(max(q, std::decay_t<decltype(q)>::filled(Float(0)))) + min(most, 0.0);
    }
    // |x - c + t step| = |x - c| - nine tenths of the distance, the first time.
    Float limit_of_sphere(const V& x, const V& step) const {
        const V from = x - centre;
        const Float radius = norm(from) - 0.9 * distance(x), a = dot(step, step),
                    b = dot(from, step);
        const Float root = b * b - a * (dot(from, from) - radius * radius);
        const lang::Bool meets = b < 0.0 && root > 0.0;
        const Float t = (-b - sqrt(select(meets, root, Float(1)))) / select(meets, a, Float(1));
        return select(meets, min(t, Float(1)), Float(1));
    }
    // Where a point is on the grid, in spacings from its first node; and how far beyond its border.
    struct Located {
        V within;
        Float beyond;
        Located(const Obstacle& o, const V& p) {
            const V local = transpose(o.rotation) * p / o.form->spacing;
            V off;
            for (int k = 0; k < D; ++k) {
                const auto last =
                    static_cast<double>(o.form->counts[static_cast<std::size_t>(k)] - 1);
                const Float u = local[k] + 0.5 * last;
                within[k] = clamp(u, 1.0, last - 1.0);
                off[k] = u - within[k];
            }
            beyond = norm(off) * o.form->spacing;
        }
    };
    Float spline(const V& u) const {
        std::array<std::array<Float, 4>, D> weights;
        std::array<Int, D> first;
        for (int k = 0; k < D; ++k) {
            const auto n = static_cast<std::int32_t>(form->counts[static_cast<std::size_t>(k)]);
            const Int cell = clamp(Int(floor(u[k])), 1, n - 3);
            const Float f = u[k] - Float(cell), g = 1.0 - f;
            weights[k] = {g * g * g / 6.0, (4.0 + f * f * (3.0 * f - 6.0)) / 6.0,
                          (4.0 + g * g * (3.0 * g - 6.0)) / 6.0, f * f * f / 6.0};
            first[k] = cell - 1;
        }
        return sum(weights, first, 0, Int(0));
    }
    Float sum(const std::array<std::array<Float, 4>, D>& weights, const std::array<Int, D>& first,
              int axis, const Int& before) const {
        if (axis == D) return sample(before);
        const auto k = static_cast<std::size_t>(axis);
        Float total = 0;
        for (int j = 0; j < 4; ++j) {
            const Int index = before * static_cast<std::int32_t>(form->counts[k]) + first[k] + j;
            total += weights[k][static_cast<std::size_t>(j)] * sum(weights, first, axis + 1, index);
        }
        return total;
    }
};

// What kernels are given of an obstacle: parameters of these names, in this order, of which each
// uses those that its solid has. `place`: normal, centre, one end or a grid's first node; `extent`:
// the other end or half extents; `size`: offset or radius.
inline std::vector<std::string> with_obstacle(std::vector<std::string> names) {
    names.insert(names.begin(), {"place", "extent", "size", "orientation", "velocity", "spin",
                                 "samples", "h", "step"});
    return names;
}

template <int D>
struct Given {
    using Float = lang::Float;
    using V = lang::Vec<Float, D>;
    using M = lang::Mat<Float, D, D>;

    const Form& form;
    const lang::Property<V>&place, &extent;
    const lang::Property<Float>& size;
    const lang::Property<Orientation<D>>& orientation;
    const lang::Property<V>& velocity;
    const lang::Property<Spin<D>>& spin;
    const lang::Property<Float>& samples;
    const lang::Param<Float>& h;
    const lang::Param<lang::Int>& step;

    // At the beginning (0) or at the end (1) of the step that runs.
    Obstacle<D> at(int end = 1) const {
        Obstacle<D> o(form);
        o.rotation = M::identity();
        if (form.oriented) {
            if constexpr (D == 3)
                o.rotation = to_matrix(normalize(lang::Quat(orientation[0])));
            else
                o.rotation = rotation_by<D>(orientation[0]);
        }
        if (form.solid != Solid::box && form.solid != Solid::distance_field) o.size = size[0];
        o.centre = V::filled(Float(0));
        o.extent = V::filled(Float(0));
        switch (form.solid) {
            case Solid::plane: o.extent = normalize(place[0]); break;
            case Solid::sphere: o.centre = place[0]; break;
            case Solid::capsule:
            case Solid::cylinder:
                o.centre = 0.5 * (place[0] + extent[0]);
                o.extent = 0.5 * (extent[0] - place[0]);
                break;
            case Solid::box:
                o.centre = place[0];
                o.extent = extent[0];
                break;
            case Solid::distance_field:
                o.centre = place[0];
                for (int k = 0; k < D; ++k)
                    o.centre[k] +=
                        0.5 * form.spacing *
                        static_cast<double>(form.counts[static_cast<std::size_t>(k)] - 1);
                o.sample = [this](lang::Int i) { return Float(samples[i]); };
                break;
        }
        if (!form.moves()) return o;
        const Float time = Float(step.value() + end) * h.value();
        if (form.translates) o.centre = o.centre + velocity[0] * time;
        if (form.turns) {
            const M turn = rotation_by<D>(Spin<D>(spin[0] * time));
            if (form.has_axis())
                o.extent = turn * o.extent;
            else
                o.rotation = turn * o.rotation;
        }
        return o;
    }

    // Within the step that runs: how far it moves, and by which rotation vector it turns.
    V way() const { return form.translates ? V(velocity[0] * h.value()) : V::filled(Float(0)); }
    Spin<D> turn() const {
        if (form.turns) return spin[0] * h.value();
        if constexpr (D == 3)
            return V::filled(Float(0));
        else
            return Float(0);
    }
    // How fast its surface can come nearer to a point by turning, as a way within the step: |omega|
    // h times the farthest point's distance from the centre. Turning about its own axis does not
    // move the surface.
    Float turning_way() const {
        if (!form.turns || form.solid == Solid::sphere) return Float(0);
        const Obstacle<D> o = at();
        Spin<D> across = turn();
        if constexpr (D == 3)
            if (form.has_axis()) {
                const V axis = normalize(o.extent);
                across = across - axis * dot(axis, across);
            }
        Float radius = Float(form.half_diagonal());
        if (form.solid == Solid::box) radius = norm(o.extent);
        if (form.solid == Solid::capsule) radius = norm(o.extent) + o.size;
        if (form.solid == Solid::cylinder) radius = norm(lang::Vec2(norm(o.extent), o.size));
        if constexpr (D == 3)
            return norm(across) * radius;
        else
            return abs(across) * radius;
    }
    // Where a point of the obstacle that is at x at the beginning of the step is at its end.
    V carried(const V& x) const {
        const V before = at(0).centre;
        V r = x - before;
        if (form.turns) r = rotation_by<D>(turn()) * r;
        return before + way() + r;
    }
};

}  // namespace hindcast::barrier
