// Spatial algebra (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 2) on traced values.
//
// All quantities have world axes and refer to one point O: the linear part of a motion is the
// velocity of the point of the body that is at O, the moment of a force is taken about O. O is the
// place of the frame of the tree's root at that instant, if the tree moves. Axes do not turn and O
// does not move within an evaluation, so nothing has to be transformed from body to body.
#pragma once

#include "engine/lang/kernel.hpp"
#include "engine/lang/quaternion.hpp"

namespace hindcast::articulated {

using namespace lang;

using Six = Vec<Float, 6>;   // in arrays: angular or moment first
using Ten = Vec<Float, 10>;  // in arrays: mass, first moment, xx yy zz xy xz yz

// Velocity or acceleration; also the direction in which a joint lets its body move.
struct Motion {
    Vec3 angular, linear;  // rad/s, m/s

    Motion() = default;
    Motion(const Motion&) = default;
    Motion& operator=(const Motion&) & = default;
    Motion(const Vec3& w, const Vec3& v) : angular(w), linear(v) {}
    explicit Motion(const Six& six)
        : angular(six[0], six[1], six[2]), linear(six[3], six[4], six[5]) {}
    Six six() const {
        return Six(angular.x(), angular.y(), angular.z(), linear.x(), linear.y(), linear.z());
    }
    friend Motion operator+(const Motion& a, const Motion& b) {
        return Motion(a.angular + b.angular, a.linear + b.linear);
    }
    friend Motion operator*(const Motion& a, const Float& s) {
        return Motion(a.angular * s, a.linear * s);
    }
};

struct Force {
    Vec3 moment, force;  // N m about O, N

    Force() = default;
    Force(const Force&) = default;
    Force& operator=(const Force&) & = default;
    Force(const Vec3& m, const Vec3& f) : moment(m), force(f) {}
    friend Force operator+(const Force& a, const Force& b) {
        return Force(a.moment + b.moment, a.force + b.force);
    }
};

// Power of a force in a motion.
inline Float dot(const Motion& m, const Force& f) {
    return dot(m.angular, f.moment) + dot(m.linear, f.force);
}
// The rate of change of a motion m that is carried along by v: v x m.
inline Motion cross(const Motion& v, const Motion& m) {
    return Motion(cross(v.angular, m.angular),
                  cross(v.angular, m.linear) + cross(v.linear, m.angular));
}
// The same of a force: v x* f.
inline Force cross(const Motion& v, const Force& f) {
    return Force(cross(v.angular, f.moment) + cross(v.linear, f.force), cross(v.angular, f.force));
}

// A body's inertia: mass m, first moment h = m (c - O), and the symmetric second moment about O.
struct Inertia {
    Float mass;
    Vec3 first;
    Vec3 diagonal, off;  // xx yy zz, and xy xz yz

    Inertia() = default;
    Inertia(const Inertia&) = default;
    Inertia& operator=(const Inertia&) & = default;
    explicit Inertia(const Ten& t)
        : mass(t[0]), first(t[1], t[2], t[3]), diagonal(t[4], t[5], t[6]), off(t[7], t[8], t[9]) {}
    // m at c from O, with principal moments p about the axes of the unit quaternion q.
    Inertia(const Float& m, const Vec3& c, const Vec3& p, const Quat& q) : mass(m), first(m * c) {
        const Mat3 r = to_matrix(q);
        const Float square = dot(c, first);
        const auto about_center = [&](int i, int j) {
            return r(i, 0) * r(j, 0) * p[0] + r(i, 1) * r(j, 1) * p[1] + r(i, 2) * r(j, 2) * p[2];
        };
        for (int i = 0; i < 3; ++i) diagonal[i] = about_center(i, i) + (square - c[i] * first[i]);
        off = Vec3(about_center(0, 1) - c[0] * first[1], about_center(0, 2) - c[0] * first[2],
                   about_center(1, 2) - c[1] * first[2]);
    }
    // m at c from O, with this symmetric inertia about c.
    Inertia(const Float& m, const Vec3& c, const Mat3& about_center) : mass(m), first(m * c) {
        const Float square = dot(c, first);
        for (int i = 0; i < 3; ++i) diagonal[i] = about_center(i, i) + (square - c[i] * first[i]);
        off = Vec3(about_center(0, 1) - c[0] * first[1], about_center(0, 2) - c[0] * first[2],
                   about_center(1, 2) - c[1] * first[2]);
    }
    Ten ten() const {
        return Ten(mass, first.x(), first.y(), first.z(), diagonal.x(), diagonal.y(), diagonal.z(),
                   off.x(), off.y(), off.z());
    }
    friend Inertia operator+(const Inertia& a, const Inertia& b) {
        Inertia sum;
        sum.mass = a.mass + b.mass;
        sum.first = a.first + b.first;
        sum.diagonal = a.diagonal + b.diagonal;
        sum.off = a.off + b.off;
        return sum;
    }
    // Momentum of a velocity, or force of an acceleration.
    friend Force operator*(const Inertia& I, const Motion& m) {
        const Vec3& w = m.angular;
        const Vec3 turned(I.diagonal[0] * w[0] + I.off[0] * w[1] + I.off[1] * w[2],
                          I.off[0] * w[0] + I.diagonal[1] * w[1] + I.off[2] * w[2],
                          I.off[1] * w[0] + I.off[2] * w[1] + I.diagonal[2] * w[2]);
        return Force(turned + cross(I.first, m.linear),
                     I.mass * m.linear - cross(I.first, m.angular));
    }
};

}  // namespace hindcast::articulated
