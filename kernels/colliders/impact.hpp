// One impact of a moving point, in traced values: its time, and its effect on the motion.
//
// Within a step a point moves on a straight line with the velocity w that it has at the end of the
// step, as semi-implicit Euler says: x(s) = x + s w, w = v + a h. An impact at the time s splits the
// step there. With `left` = h - s, the velocity at the impact is v = w - a left; the surface changes
// it to v+, and the rest of the step is made with w+ = v+ + a left. As s tends to 0 or to h this is
// the impact at a step's beginning or end, so that the motion is continuous in everything.
//
// At the impact, with the surface's velocity u, normal n, r = v - u, r_n = r.n < 0, r_t = r - r_n n:
//     r_n -> -e r_n     (0 where -r_n < rest_speed)
//     |r_t| shrinks by at most mu (1 + e) |r_n|, Coulomb's law with sticking
// A rebound that the acceleration takes back before the step ends, -e r_n + a.n left < 0, is none:
// the point is held for the rest of the step. Its normal velocity is that of the surface, the
// normal part of a is taken by the surface, and |w_t| shrinks by at most mu times that part. A
// point that is held in each step rests, slides, or lifts off as soon as a.n > 0. Between the two
// cases the rebound is 0 in both, so that the motion is continuous there too.
#pragma once

#include "engine/lang/control.hpp"
#include "engine/lang/kernel.hpp"

namespace hindcast::impact {

using namespace lang;

// A point on its way through a step.
template <int D>
struct Motion {
    using V = Vec<Float, D>;
    V x, w;      // its place, its velocity at the step's end
    V a, pull;   // its acceleration with the surfaces that hold it, and without
    Float left;  // of the step, s

    V velocity() const { return w - a * left; }
    void advance(const Float& time) {
        x += w * time;
        left -= time;
    }
};

// The surface that a point meets, at the place of the impact.
template <int D>
struct Meeting {
    Vec<Float, D> normal;    // out of the surface
    Vec<Float, D> velocity;  // of the surface
    Float restitution, friction;
    Float rest_speed;  // a slower approach has no rebound
};

// The square of the speed below which there is no approach, only rounding of a velocity along the
// surface.
inline Float no_approach(const Float& speed_squared, double epsilon) {
    return speed_squared * (epsilon * epsilon);
}

// Time until the distance from a plane is 0, for a distance and its rate; `never` if the point does
// not approach. A point behind the plane that moves farther in meets it at once.
inline Float time_to_plane(const Float& distance, const Float& rate, const Float& speed_squared,
                           const Float& never, double epsilon) {
    const Bool approaches = rate < 0.0 && rate * rate > no_approach(speed_squared, epsilon);
    return select(approaches, max(distance, 0.0) / select(approaches, -rate, Float(1)), never);
}

// Time until |d + s p| = radius, for a place d relative to the center: the smaller root of
// s^2 p.p + 2 s d.p + (d.d - radius^2) = 0, in the form without cancellation.
template <int D>
Float time_to_ball(const Vec<Float, D>& d, const Vec<Float, D>& p, const Float& radius,
                   const Float& never, double epsilon) {
    const Float pp = dot(p, p), dp = dot(d, p), gap = dot(d, d) - radius * radius;
    const Float root = dp * dp - pp * max(gap, 0.0);
    const Bool meets = dp < 0.0 && dp * dp > no_approach(pp, epsilon) * dot(d, d) && root >= 0.0;
    const Float denominator = select(meets, sqrt(select(meets, root, Float(1))) - dp, Float(1));
    return select(meets, max(gap, 0.0) / denominator, never);
}

// t made shorter by at most `limit`. At |t| = limit the slope is that of sliding.
template <int D>
Vec<Float, D> shortened(const Vec<Float, D>& t, const Float& limit) {
    const Float length = norm(t);
    return select(length >= limit, t * (1.0 - divz(limit, length)),
                  Vec<Float, D>::filled(Float(0)));
}

// The motion after an impact. Surfaces that held the point before hold it again only if it meets
// them again: the part that they took from the acceleration comes back.
template <int D>
struct Outcome {
    Vec<Float, D> w, a;  // velocity at the step's end and acceleration for the rest of the step
    Bool held;
};

template <int D>
Outcome<D> respond(const Motion<D>& m, const Meeting<D>& c, bool friction) {
    using V = Vec<Float, D>;
    const V r = m.velocity() - c.velocity;
    const Float rn = dot(r, c.normal), an = dot(m.pull, c.normal);
    const V rt = r - c.normal * rn, at = m.pull - c.normal * an;
    const Float approach = max(-rn, 0.0);
    const Float rebound =
        max(rn, select(approach < c.rest_speed, Float(0), c.restitution * approach));
    const Float end = rebound + an * m.left;
    Outcome<D> out;
    out.held = end < 0.0;
    V tangential = rt;
    if (friction) tangential = shortened<D>(tangential, c.friction * (rebound - rn));
    tangential += at * m.left;
    if (friction) tangential = shortened<D>(tangential, c.friction * max(-end, 0.0));
    out.w = c.velocity + tangential + c.normal * max(end, 0.0);
    out.a = select(out.held, at, m.pull);
    return out;
}

}  // namespace hindcast::impact
