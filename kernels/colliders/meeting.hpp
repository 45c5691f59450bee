// The obstacle of a scene that a point meets next, and corners between obstacles: for the kernels
// that move points through a step (impacts.cpp, pairs.cpp).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "kernels/colliders/impact.hpp"
#include "kernels/colliders/impacts.hpp"

namespace hindcast::impact {

// Indices of the numbers of a surface, which are in one vector.
enum Number { size, restitution, friction, rest_speed };

inline const std::string too_many =
    "a point has more than " + std::to_string(most_impacts) +
    " impacts in one step; make the step smaller, give the obstacles a "
    "rest_speed, or move them apart";

// 16 units in the last place of 1, in the precision of the kernel that is traced.
inline double epsilon() {
    return 16 * (builder().kernel().precision == ir::Precision::f32
                     ? std::numeric_limits<float>::epsilon()
                     : std::numeric_limits<double>::epsilon());
}

struct Form {
    struct Of {
        bool plane = true, everywhere = true, friction = false, moves = false;
        std::int64_t first = 0, end = 0;
    };
    std::vector<Of> surfaces;
    bool forced = false, radii = false;

    // True if `what` is true for one of the surfaces.
    bool any(bool Of::*what) const {
        for (const Of& s : surfaces)
            if (s.*what) return true;
        return false;
    }
};

// The form that the kernels are recorded for, and their arguments: points with the obstacles that
// they meet, and the forces that accelerate the points.
struct Bound {
    Form form;
    std::vector<NamedArgument> obstacles, acceleration;
};
// A quantity's argument, or 0.
Argument argument_of(const model::Quantity* quantity, int components = 1);
// Adds the position update of points that meet each other too (pairs.cpp).
void add_rounds(model::Model& model, const Bound& bound, const Pairs& pairs);

inline Bool in_range(const Int& i, std::int64_t first, std::int64_t end) {
    return i >= static_cast<std::int32_t>(first) && i < static_cast<std::int32_t>(end);
}

// The obstacles of the scene as point i sees them in one step.
template <int D>
class Obstacles {
public:
    using V = Vec<Float, D>;

    // `radius` is the point's; `step` is the number of the step.
    Obstacles(const Form& form, const Int& i, const Float& radius, const Param<Float>& h,
              const Param<Int>& step, const Read<V>& places, const Read<V>& velocities,
              const Read<Vec4>& numbers)
        : form_(form),
          i_(i),
          radius_(radius),
          places_(places),
          velocities_(velocities),
          numbers_(numbers),
          friction_(form.any(&Form::Of::friction)),
          moves_(form.any(&Form::Of::moves)) {
        if (moves_) end_ = Float(step.value() + 1) * h.value();
    }

    bool friction() const { return friction_; }

    // True if the point may meet an obstacle in the rest of the step: a cheap test, as most do not.
    Bool may_meet(const Motion<D>& m) const {
        Bool any = false;
        for (std::size_t c = 0; c < form_.surfaces.size(); ++c) {
            const Approach to = approach(c, m);
            Bool meets;
            if (form_.surfaces[c].plane) {
                const Float rate = dot(to.place, to.p), distance = dot(to.place, to.x) - to.reach;
                meets = rate < 0.0 && distance + rate * m.left < 0.0;
            } else {  // its way leads through the ball, and it gets there in this step
                const V d = to.x - to.place;
                const Float pp = dot(to.p, to.p), dp = dot(d, to.p),
                            gap = dot(d, d) - to.reach * to.reach;
                const Float at_end = gap + m.left * (2.0 * dp + m.left * pp);
                meets = dp < 0.0 && dp * dp > pp * gap && (at_end < 0.0 || -dp < pp * m.left);
            }
            any = any || concerned(c, meets);
        }
        return any;
    }

    // The obstacle that the point meets first; the time is the rest of the step if it meets none.
    struct Next {
        Float time;
        Meeting<D> with;
    };
    Next next(const Motion<D>& m) const {
        Next best;
        best.time = m.left;
        for (std::size_t c = 0; c < form_.surfaces.size(); ++c) {
            const Approach to = approach(c, m);
            Float time;
            V normal;
            if (form_.surfaces[c].plane) {
                time = time_to_plane(dot(to.place, to.x) - to.reach, dot(to.place, to.p),
                                     dot(to.p, to.p), m.left, epsilon());
                normal = to.place;
            } else {
                time = time_to_ball<D>(to.x - to.place, to.p, to.reach, m.left, epsilon());
                normal = normalize(to.x - to.place + to.p * time);
            }
            const Bool sooner = concerned(c, time < best.time);
            best.time = select(sooner, time, best.time);
            best.with.normal = select(sooner, normal, best.with.normal);
            if (moves_) best.with.velocity = select(sooner, to.u, best.with.velocity);
            best.with.restitution = select(sooner, to.number[restitution], best.with.restitution);
            best.with.friction = select(sooner, to.number[Number::friction], best.with.friction);
            best.with.rest_speed = select(sooner, to.number[rest_speed], best.with.rest_speed);
        }
        return best;
    }

private:
    // p, x: the point's velocity and place relative to the surface's at time 0.
    struct Approach {
        V place, u, p, x;
        Vec4 number;
        Float reach;
    };
    Approach approach(std::size_t c, const Motion<D>& m) const {
        const Int k = static_cast<std::int32_t>(c);
        Approach to;
        to.place = places_[k];
        const bool moves = form_.surfaces[c].moves;
        if (moves) to.u = velocities_[k];
        to.p = moves ? m.w - to.u : m.w;
        to.x = moves ? m.x - to.u * (end_ - m.left) : m.x;
        to.number = numbers_[k];
        to.reach = form_.radii ? to.number[size] + radius_ : Float(to.number[size]);
        return to;
    }
    Bool concerned(std::size_t c, const Bool& value) const {
        const Form::Of& of = form_.surfaces[c];
        return of.everywhere ? value : value && in_range(i_, of.first, of.end);
    }

    const Form& form_;
    Int i_;
    Float radius_;
    Read<V> places_, velocities_;
    Read<Vec4> numbers_;
    bool friction_, moves_;
    Float end_;  // of the step, s
};

// A point that one surface holds meets another one: in this corner it moves along both.
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
        // v with its components along n1 and n changed by c1 and c2.
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
