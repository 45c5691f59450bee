#include "kernels/articulated/constraints/soft_constraint.hpp"

namespace hindcast::articulated {

namespace {

constexpr double least = 1e-15, least_impedance = 1e-4, most_impedance = 1 - 1e-4;

// x^p for x > 0, else 0.
Float power(const Float& x, const Float& p) {
    const Bool positive = x > 0.0;
    return select(positive, pow(select(positive, x, Float(1)), p), Float(0));
}

// From 0 at x = 0 to 1 at x = 1: a power up to the midpoint, its mirror image from there.
Float sigmoid(const Float& x, const Float& midpoint, const Float& p) {
    const Float rising = power(x, p) / power(midpoint, p - 1.0),
                falling = 1.0 - power(1.0 - x, p) / power(1.0 - midpoint, p - 1.0);
    return select(x <= midpoint, rising, falling);
}

Float bounded(const Float& d) { return clamp(d, least_impedance, most_impedance); }

Float impedance_at(const Five& numbers, const Float& position) {
    const Float first = bounded(numbers[0]), last = bounded(numbers[1]);
    const Float& width = numbers[2];
    const Float midpoint = bounded(numbers[3]), p = max(numbers[4], 1.0);
    const Bool constant = width <= least || first == last;
    const Float x = abs(position) / select(constant, Float(1), width);
    const Float y = select(x < 1.0, sigmoid(min(x, Float(1)), midpoint, p), Float(1));
    return select(constant, 0.5 * (first + last), first + y * (last - first));
}

}  // namespace

SoftConstraint::SoftConstraint(const SoftNumbers& numbers, const Float& position,
                               const Float& inverse_inertia, const Float& h, bool guarded) {
    const Five& impedance = numbers.impedance;
    const Float last = bounded(impedance[1]), d = impedance_at(impedance, position);
    const Float first = numbers.reference[0], second = numbers.reference[1];
    const Bool direct = first <= 0.0;  // stiffness and damping themselves
    const Float time = select(direct, Float(1), guarded ? max(first, 2.0 * h) : first);
    const Float ratio = select(second > 0.0, second, Float(1));
    const Float k = select(direct, -first / (last * last),
                           1.0 / max(last * last * time * time * ratio * ratio, least));
    damping = select(second <= 0.0, -second / last, 2.0 / max(last * time, least));
    stiffness = k * d;
    inverse_mass = max((1.0 - d) / d * inverse_inertia, least);
}

}  // namespace hindcast::articulated
