#include "kernels/articulated/constraints/soft_constraint.hpp"

namespace hindcast::articulated {

namespace {

constexpr double least_number = 1e-15, least_impedance = 1e-4, most_impedance = 1 - 1e-4;

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
    const Bool constant = width <= least_number || first == last;
    const Float x = abs(position) / select(constant, Float(1), width);
    const Float y = select(x < 1.0, sigmoid(min(x, Float(1)), midpoint, p), Float(1));
    return select(constant, 0.5 * (first + last), first + y * (last - first));
}

}  // namespace

SoftConstraint::SoftConstraint(const SoftNumbers& numbers, const Float& position,
                               const Float& inverse_inertia, const Float& h, SpringOptions options,
                               Spring spring)
    : options_(options), h_(h) {
    const Five& impedance = numbers.impedance;
    const Float last = bounded(impedance[1]), d = impedance_at(impedance, position);
    const Float first = numbers.reference[0], second = numbers.reference[1];
    const Bool direct = first <= 0.0;  // stiffness and damping themselves
    const bool slower = options.guarded && !options.discrete;
    const Float time = select(direct, Float(1), slower ? max(first, 2.0 * h) : first);
    const Float ratio = select(second > 0.0, second, Float(1));
    const Float k = select(direct, -first / (last * last),
                           1.0 / max(last * last * time * time * ratio * ratio, least_number));
    damping = select(second <= 0.0, -second / last, 2.0 / max(last * time, least_number));
    stiffness = k * d;
    if (!options.discrete) {
        inverse_mass = max((1.0 - d) / d * inverse_inertia, least_number);
        return;
    }
    if (spring == Spring::none) stiffness = 0.0;
    meet_end_of_step(inverse_inertia, d, options.guarded && spring == Spring::limited, direct);
}

void SoftConstraint::meet_end_of_step(const Float& inverse_inertia, const Float& impedance,
                                      bool limited, const Bool& direct) {
    // R / A, and its least.
    const Float ratio = (1.0 - impedance) / impedance,
                least_ratio = (1.0 - most_impedance) / most_impedance;
    if (limited) {
        const Float square = h_ * h_ * stiffness;
        const Bool rebounds = !direct && square > 1.0;
        const Float same_ratio = damping / sqrt(select(rebounds, square, Float(1)));
        const Float most = max(ratio / least_ratio - 2.0, 0.0) / h_;
        damping = select(rebounds, min(same_ratio, most), damping);
        stiffness = select(rebounds, 1.0 / (h_ * h_), stiffness);
    }
    factor_ = 1.0 + h_ * damping + h_ * h_ * stiffness;
    inverse_mass = max(max(ratio / factor_, least_ratio) * inverse_inertia, least_number);
}

Float SoftConstraint::reference(const Float& velocity, const Float& position) const {
    if (!options_.discrete) return -(damping * velocity) - stiffness * position;
    return -(damping * velocity + stiffness * (position + h_ * velocity)) / factor_;
}

Float SoftConstraint::reference(const Float& velocity, const Float& position,
                                const Float& carried) const {
    return reference(velocity, position) - (options_.discrete ? carried / factor_ : carried);
}

Float SoftConstraint::reference(const Float& velocity) const {
    const Float force = -(damping * velocity);
    return options_.discrete ? force / factor_ : force;
}

}  // namespace hindcast::articulated
