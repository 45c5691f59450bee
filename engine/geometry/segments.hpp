// The points of two segments that are nearest to each other.
#pragma once

#include "engine/geometry/contact.hpp"

namespace hindcast::geometry {

// Ways along the half axes of two segments, both from -1 to 1.
struct Nearest {
    Float s, t;
};

// Two segments with half axes a and b; `between` leads from the middle of the first to the middle
// of the second (Ericson, Real-Time Collision Detection, 2005, 5.1.9, from the middles).
class TwoSegments {
public:
    TwoSegments(const Vec3& a, const Vec3& b, const Vec3& between)
        : aa_(dot(a, a)),
          ab_(dot(a, b)),
          bb_(dot(b, b)),
          ac_(dot(a, between)),
          bc_(-dot(b, between)),
          crossed_(squared_norm(cross(a, b))) {}

    // True within a ten thousandth of a radian.
    Bool parallel() const { return crossed_ < 1e-8 * (aa_ * bb_); }
    Bool exactly_parallel() const { return crossed_ < no_length; }
    // The nearest points of segments that are not exactly parallel.
    Nearest nearest() const {
        const Float s = within((bb_ * ac_ + ab_ * bc_) / crossed_);
        const Float t = within((bc_ + ab_ * s) / bb_);
        return {within((ac_ + ab_ * t) / aa_), t};
    }
    // The part of the first segment that is nearest: -1 its lower end, 1 its upper end, 0 between.
    // As in MuJoCo, an end counts too if the nearest point of the two endless lines lies beyond it.
    Int part_of_first() const {
        const Float endless = (bb_ * ac_ + ab_ * bc_) / crossed_;
        const Float last = (ac_ + ab_ * within((bc_ + ab_ * within(endless)) / bb_)) / aa_;
        const auto part = [](const Float& way, const Int& otherwise) {
            return select(way > 1.0, Int(1), select(way < -1.0, Int(-1), otherwise));
        };
        return part(last, part(endless, Int(0)));
    }
    // One end of the stretch in which parallel segments lie side by side: this end, -1 or 1, of the
    // second one, or the end of the first one if that comes before it.
    Nearest beside(double end) const {
        const Float way = (ac_ + ab_ * end) / aa_, s = within(way);
        return {s, select(abs(way) <= 1.0, Float(end), within((bc_ + ab_ * s) / bb_))};
    }

private:
    static Float within(const Float& way) { return clamp(way, -1.0, 1.0); }
    Float aa_, ab_, bb_, ac_, bc_, crossed_;
};

}  // namespace hindcast::geometry
