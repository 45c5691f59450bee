// Obstacles of the response "barrier", traced: the place of one at a time, and the distance of a
// point from it (engine/geometry/kinds). At the time t its center has moved by v t, and an obstacle
// that turns has turned about it by exp(omega t). The points of a plane have n.(x - v t) = offset.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/ad/grad.hpp"
#include "engine/geometry/kinds/distances.hpp"
#include "engine/lang/control.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/quaternion.hpp"

namespace hindcast::barrier {

using geometry::PlacedBy;
using geometry::ShapeKind;

struct Form {
    ShapeKind kind = ShapeKind::plane;
    bool translates = false, turns = false, oriented = false;
    bool smoothed = false;     // its friction
    std::int64_t first = 0;    // of the points that it meets
    geometry::FieldGrid grid;  // of a distance field

    const geometry::KindRow& row() const { return geometry::row(kind); }
    bool moves() const { return translates || turns; }
    bool is_field() const { return row().placed_by == PlacedBy::grid; }
    // A convex solid lies on one side of the plane through its point nearest to another point.
    bool is_convex() const { return !is_field(); }
    bool has_axis() const { return row().has_axis(); }
    // The most that a distance changes per length of way.
    double steepest() const { return is_field() ? grid.steepest() : 1; }
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

// An obstacle at one time.
template <int D>
struct Obstacle {
    using Float = lang::Float;
    using Int = lang::Int;
    using V = lang::Vec<Float, D>;

    const Form* form;
    V center;                          // of a plane: its displacement
    lang::Mat<Float, D, D> rotation;   // from its own axes
    V extent;                          // the normal; half of the axis; half extents
    Float size;                        // offset or radius
    std::function<Float(Int)> sample;  // of a distance field

    explicit Obstacle(const Form& of) : form(&of) {}

    // Negative inside. At most as steep as Form::steepest().
    Float distance(const V& x) const {
        Float d = form->is_field() ? field(x).distance()
                                   : geometry::distance(form->kind, seen(x), extent, size);
        return d.name("distance");
    }
    // A lower bound of the distance: no part of the obstacle is nearer.
    Float clearance(const V& x) const {
        return form->is_field() ? field(x).clearance() : distance(x);
    }
    // The gradient of the distance.
    V normal(const V& x) const {
        if (form->kind == ShapeKind::plane) return extent;
        const V at = ad::variable(x);
        return ad::grad(distance(at), at);
    }
    // The most by which a way `u` brings a point nearer to the obstacle, with n the normal there.
    Float approach(const V& u, const V& n) const {
        return form->is_convex() ? max(-dot(n, u), 0.0) : norm(u);
    }
    // The part of the way along `step` after which at least a tenth of the distance is left; at
    // most 1.
    Float limit(const V& x, const V& step) const {
        if (form->kind == ShapeKind::sphere) return limit_of_sphere(x, step);
        const Float kept = 0.1 * clearance(x);
        Float part = 0;
        const auto advance = [&] {
            const V at = x + part * step;
            const V n = form->is_convex() ? normal(at) : V();
            const Float room = max(clearance(at) - kept, 0.0), rate = approach(step, n);
            const Float rest = 1.0 - part;
            part += select(rate * rest > room, room / rate, rest);
        };
        // One round is exact for a plane. Other obstacles come nearer with each round.
        const int rounds = form->kind == ShapeKind::plane ? 1 : form->is_convex() ? 12 : 24;
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
    // A point relative to the center, in the axes of an obstacle that has them.
    V seen(const V& x) const {
        const V p = x - center;
        return form->row().placed_by == PlacedBy::center_and_half_extents || form->is_field()
                   ? transpose(rotation) * p
                   : p;
    }
    geometry::FieldDistance<D> field(const V& x) const { return {form->grid, sample, seen(x)}; }
    // The first t, at most 1, with |x - c + t step| = |x - c| - nine tenths of the distance.
    Float limit_of_sphere(const V& x, const V& step) const {
        const V from = x - center;
        const Float radius = norm(from) - 0.9 * distance(x), a = dot(step, step),
                    b = dot(from, step);
        const Float root = b * b - a * (dot(from, from) - radius * radius);
        const lang::Bool meets = b < 0.0 && root > 0.0;
        const Float t = (-b - sqrt(select(meets, root, Float(1)))) / select(meets, a, Float(1));
        return select(meets, min(t, Float(1)), Float(1));
    }
};

// The parameters of an obstacle in kernels, in this order; a kernel uses those that its kind of
// solid has. `place`: normal, center, one end or a grid's first node; `extent`: the other end or
// half extents; `size`: offset or radius.
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

    // The obstacle at the beginning (0) or at the end (1) of the current step.
    Obstacle<D> at(int end = 1) const {
        Obstacle<D> o(form);
        o.rotation = M::identity();
        if (form.oriented) {
            if constexpr (D == 3)
                o.rotation = to_matrix(normalize(lang::Quat(orientation[0])));
            else
                o.rotation = rotation_by<D>(orientation[0]);
        }
        o.center = V::filled(Float(0));
        o.extent = V::filled(Float(0));
        switch (form.row().placed_by) {
            case PlacedBy::ends:
                o.size = size[0];
                o.center = 0.5 * (place[0] + extent[0]);
                o.extent = 0.5 * (extent[0] - place[0]);
                break;
            case PlacedBy::center_and_half_extents:
                o.center = place[0];
                o.extent = extent[0];
                break;
            case PlacedBy::grid:
                o.center = place[0];
                for (int k = 0; k < D; ++k)
                    o.center[k] += form.grid.half_extent(static_cast<std::size_t>(k));
                o.sample = [this](lang::Int i) { return Float(samples[i]); };
                break;
            default:
                o.size = size[0];
                if (form.kind == ShapeKind::plane)
                    o.extent = normalize(place[0]);
                else
                    o.center = place[0];
        }
        if (!form.moves()) return o;
        const Float time = Float(step.value() + end) * h.value();
        if (form.translates) o.center = o.center + velocity[0] * time;
        if (form.turns) {
            const M turn = rotation_by<D>(Spin<D>(spin[0] * time));
            if (form.has_axis())
                o.extent = turn * o.extent;
            else
                o.rotation = turn * o.rotation;
        }
        return o;
    }

    // Its displacement in the current step, m, and its rotation vector, rad.
    V way() const { return form.translates ? V(velocity[0] * h.value()) : V::filled(Float(0)); }
    Spin<D> turn() const {
        if (form.turns) return spin[0] * h.value();
        if constexpr (D == 3)
            return V::filled(Float(0));
        else
            return Float(0);
    }
    // The most that turning brings its surface nearer to a point in a step, m: |omega| h times the
    // farthest point's distance from the center. Turning about its own axis does not move the
    // surface.
    Float turning_way() const {
        if (!form.turns || form.kind == ShapeKind::sphere) return Float(0);
        const Obstacle<D> o = at();
        Spin<D> across = turn();
        if constexpr (D == 3)
            if (form.has_axis()) {
                const V axis = normalize(o.extent);
                across = across - axis * dot(axis, across);
            }
        Float radius = form.is_field() ? Float(form.grid.half_diagonal()) : norm(o.extent);
        if (form.has_axis())
            radius = form.row().round_ends ? radius + o.size : norm(lang::Vec2(radius, o.size));
        if constexpr (D == 3)
            return norm(across) * radius;
        else
            return abs(across) * radius;
    }
    // The place at the step's end of the obstacle's point that is at x at the step's beginning.
    V carried(const V& x) const {
        const V before = at(0).center;
        V r = x - before;
        if (form.turns) r = rotation_by<D>(turn()) * r;
        return before + way() + r;
    }
};

}  // namespace hindcast::barrier
