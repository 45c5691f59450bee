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

// What time_to_plane() and time_to_ball() need, of one surface.
template <int D>
struct Approach {
    using V = Vec<Float, D>;
    V place, u, p, x;  // p, x: the point's velocity and place relative to the surface's at time 0
    Float reach;

    Approach(const Form& form, std::size_t c, const Motion<D>& m, const Float& radius,
             const Float& end, const Read<V>& places, const Read<V>& velocities,
             const Read<Vec4>& numbers) {
        const Int k = static_cast<std::int32_t>(c);
        place = places[k];
        const bool moves = form.surfaces[c].moves;
        u = moves ? V(velocities[k]) : V::filled(Float(0));
        p = moves ? m.w - u : m.w;
        x = moves ? m.x - u * (end - m.left) : m.x;
        const Vec4 number = numbers[k];
        reach = form.radii ? number[size] + radius : Float(number[size]);
    }
};

inline Bool within(const Form::Of& of, const Int& i, const Bool& value) {
    if (of.everywhere) return value;
    return value && i >= static_cast<std::int32_t>(of.first) &&
           i < static_cast<std::int32_t>(of.end);
}

// May a point meet anything in what is left of the step? Cheap, for the many that do not.
template <int D>
Bool may_meet(const Form& form, const Motion<D>& m, const Int& i, const Float& radius,
              const Float& end, const Read<Vec<Float, D>>& places,
              const Read<Vec<Float, D>>& velocities, const Read<Vec4>& numbers) {
    Bool any = false;
    for (std::size_t c = 0; c < form.surfaces.size(); ++c) {
        const Approach<D> to(form, c, m, radius, end, places, velocities, numbers);
        Bool meets;
        if (form.surfaces[c].plane) {
            const Float rate = dot(to.place, to.p), distance = dot(to.place, to.x) - to.reach;
            meets = rate < 0.0 && distance + rate * m.left < 0.0;
        } else {  // its way leads through the ball, and it gets there in this step
            const auto d = to.x - to.place;
            const Float pp = dot(to.p, to.p), dp = dot(d, to.p),
                        gap = dot(d, d) - to.reach * to.reach;
            const Float at_end = gap + m.left * (2.0 * dp + m.left * pp);
            meets = dp < 0.0 && dp * dp > pp * gap && (at_end < 0.0 || -dp < pp * m.left);
        }
        any = any || within(form.surfaces[c], i, meets);
    }
    return any;
}

template <int D>
Next<D> next(const Form& form, const Motion<D>& m, const Int& i, const Float& radius,
             const Float& end, const Read<Vec<Float, D>>& places,
             const Read<Vec<Float, D>>& velocities, const Read<Vec4>& numbers) {
    using V = Vec<Float, D>;
    Next<D> best;
    best.time = m.left;
    for (std::size_t c = 0; c < form.surfaces.size(); ++c) {
        const Form::Of& of = form.surfaces[c];
        const Approach<D> to(form, c, m, radius, end, places, velocities, numbers);
        const Vec4 number = numbers[Int(static_cast<std::int32_t>(c))];
        Float time;
        V normal;
        if (of.plane) {
            time = time_to_plane(dot(to.place, to.x) - to.reach, dot(to.place, to.p),
                                 dot(to.p, to.p), m.left, form.epsilon);
            normal = to.place;
        } else {
            time = time_to_ball<D>(to.x - to.place, to.p, to.reach, m.left, form.epsilon);
            normal = normalize(to.x - to.place + to.p * time);
        }
        const Bool sooner = within(of, i, time < best.time);
        best.time = select(sooner, time, best.time);
        best.with.normal = select(sooner, normal, best.with.normal);
        if (form.any(&Form::Of::moves))
            best.with.velocity = select(sooner, to.u, best.with.velocity);
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
