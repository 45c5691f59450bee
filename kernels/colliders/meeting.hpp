// What a point meets next among a scene's obstacles, and corners: for the kernels that move points
// through a step (impacts.cpp, pairs.cpp).
#pragma once

#include <string>
#include <vector>

#include "kernels/colliders/impact.hpp"
#include "kernels/colliders/impacts.hpp"

namespace hindcast::impact {

// Numbers of a surface, in one vector.
enum Number { size, restitution, friction, rest_speed };

inline const std::string too_many =
    "a point has more than " + std::to_string(most_impacts) +
    " impacts in one step; make the step smaller, give the obstacles a "
    "rest_speed, or move them apart";

struct Form {
    struct Of {
        bool plane = true, everywhere = true, friction = false, moves = false;
        std::int64_t first = 0, end = 0;
    };
    std::vector<Of> surfaces;
    bool forced = false, radii = false;
    double epsilon = 0;

    // Is that so of one of them?
    bool any(bool Of::*what) const {
        for (const Of& s : surfaces)
            if (s.*what) return true;
        return false;
    }
};

// The obstacles' numbers in arrays, and what else the kernels read.
struct Bound {
    Form form;
    Array places, velocities, numbers, nothing, force, radius;
};
// A quantity's argument, or 0.
Argument argument_of(const model::Quantity* quantity);
// The position update where points meet each other too (pairs.cpp).
void add_rounds(model::Model& model, const Bound& bound, const Pairs& pairs);

// The surface that a point meets first.
template <int D>
struct Next {
    Float time;
    Meeting<D> with;
    Float rest_speed;
};

template <int D>
Next<D> next(const Form& form, const Motion<D>& m, const Int& i, const Float& radius,
             const Float& end, const Read<Vec<Float, D>>& places,
             const Read<Vec<Float, D>>& velocities, const Read<Vec4>& numbers) {
    using V = Vec<Float, D>;
    Next<D> best;
    best.time = m.left;
    for (std::size_t c = 0; c < form.surfaces.size(); ++c) {
        const Form::Of& of = form.surfaces[c];
        const Int k = static_cast<std::int32_t>(c);
        const V place = places[k], u = of.moves ? V(velocities[k]) : V::filled(Float(0));
        const Vec4 number = numbers[k];
        const V p = of.moves ? m.w - u : m.w;
        const V x = of.moves ? m.x - u * (end - m.left) : m.x;
        const Float reach = form.radii ? number[size] + radius : Float(number[size]);
        Float time;
        V normal;
        if (of.plane) {
            time = time_to_plane(dot(place, x) - reach, dot(place, p), dot(p, p), m.left,
                                 form.epsilon);
            normal = place;
        } else {
            time = time_to_ball<D>(x - place, p, reach, m.left, form.epsilon);
            normal = normalize(x - place + p * time);
        }
        Bool sooner = time < best.time;
        if (!of.everywhere)
            sooner = sooner && i >= static_cast<std::int32_t>(of.first) &&
                     i < static_cast<std::int32_t>(of.end);
        best.time = select(sooner, time, best.time);
        best.with.normal = select(sooner, normal, best.with.normal);
        if (form.any(&Form::Of::moves)) best.with.velocity = select(sooner, u, best.with.velocity);
        best.with.restitution = select(sooner, number[restitution], best.with.restitution);
        best.with.friction = select(sooner, number[friction], best.with.friction);
        best.rest_speed = select(sooner, number[rest_speed], best.rest_speed);
    }
    return best;
}

// A point that is held by one surface already, in a corner with another one: it moves along both.
template <int D>
struct Corner {
    Int count = 0;      // of surfaces that hold the point in this step
    Meeting<D> before;  // the latest of them

    void hold(const Meeting<D>& now, Outcome<D>& out, bool friction, double epsilon) {
        using V = Vec<Float, D>;
        const V& n1 = before.normal;
        const V& n = now.normal;
        const Float g = dot(n1, n), det = 1.0 - g * g;
        const Float into = dot(before.velocity - out.w, n1);
        const Bool both = out.held && count > 0 && det > epsilon && into > 0.0 &&
                          into * into > no_approach(dot(out.w, out.w), epsilon);
        const Float scale = 1.0 / select(both, det, Float(1));
        // The change along n1 and n that leaves nothing along either.
        const auto along_both = [&](const V& v, const Float& c1, const Float& c2) {
            return v + n1 * ((c1 - g * c2) * scale) + n * ((c2 - g * c1) * scale);
        };
        const Float c2 = dot(now.velocity - out.w, n);
        V w = along_both(out.w, into, c2);
        if (friction) {
            const Float limit = before.friction * max((into - g * c2) * scale, 0.0) +
                                now.friction * max((c2 - g * into) * scale, 0.0);
            w = now.velocity + shortened<D>(w - now.velocity, limit);
        }
        V a = along_both(out.a, -dot(out.a, n1), -dot(out.a, n));
        if constexpr (D == 3) {  // held by three: at rest with the last one
            w = select(count > 1, now.velocity, w);
            a = select(count > 1, V::filled(Float(0)), a);
        }
        out.w = select(both, w, out.w);
        out.a = select(both, a, out.a);
        before.normal = select(out.held, n, n1);
        before.velocity = select(out.held, now.velocity, before.velocity);
        before.friction = select(out.held, now.friction, before.friction);
        count = select(out.held, count + 1, count);
    }
};

}  // namespace hindcast::impact
