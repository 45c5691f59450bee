#include "kernels/articulated/constraints/row_force.hpp"

#include <utility>

namespace hindcast::articulated {

Cone::Cone(Numbers mass, Numbers friction)
    : mass_(std::move(mass)), friction_(std::move(friction)) {}

Cone::Zone Cone::zone(const Numbers& r) const {
    const Float mu = friction_[0], normal = mu * r[0];
    Float square = 0;
    for (std::size_t j = 1; j < r.size(); ++j) {
        const Float weighted = friction_[j] * r[j];
        square = square + weighted * weighted;
    }
    // If T is 0 the zone is never "sliding", so values substituted there have no effect.
    const Bool any = square > 0.0;
    const Float length = sqrt(select(any, square, Float(1)));
    const Float along = select(any, length, Float(0));
    Zone z{normal >= mu * along,
           mu * normal + along <= 0.0,
           length,
           mass_[0] / (mu * mu * (1.0 + mu * mu)),
           normal - mu * along,
           Numbers(r.size())};
    for (std::size_t j = 1; j < r.size(); ++j)
        z.tangent[j] = friction_[j] * friction_[j] * r[j] / length;
    return z;
}

Float Cone::value(const Numbers& r) const {
    const Zone z = zone(r);
    Float sticking = 0;
    for (std::size_t j = 0; j < r.size(); ++j) sticking = sticking + 0.5 * mass_[j] * r[j] * r[j];
    return select(z.apart, Float(0),
                  select(z.sticking, sticking, 0.5 * z.scale * z.excess * z.excess));
}

Cone::Numbers Cone::slope(const Numbers& r) const {
    const Zone z = zone(r);
    const Float mu = friction_[0], pull = z.scale * z.excess * mu;
    Numbers s(r.size());
    for (std::size_t j = 0; j < r.size(); ++j) {
        const Float sliding = j == 0 ? pull : -(pull * z.tangent[j]);
        s[j] = select(z.apart, Float(0), select(z.sticking, mass_[j] * r[j], sliding));
    }
    return s;
}

Bool Cone::slides(const Numbers& r) const {
    const Zone z = zone(r);
    return !z.apart && !z.sticking;
}

Cone::Numbers Cone::curvature(const Numbers& r) const {
    const Zone z = zone(r);
    const std::size_t d = r.size();
    const Float mu = friction_[0], square = z.scale * mu * mu,
                bend = z.scale * z.excess * mu / z.length;
    Numbers h(d * d);
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            Float sliding = square;
            if (i > 0 && j == 0) sliding = -(square * z.tangent[i]);
            if (i > 0 && j > 0) {
                sliding = (square + bend) * (z.tangent[i] * z.tangent[j]);
                if (i == j) sliding = sliding - bend * (friction_[i] * friction_[i]);
            }
            const Float sticking = i == j ? mass_[i] : Float(0);
            h[i * d + j] = select(z.apart, Float(0), select(z.sticking, sticking, sliding));
            h[j * d + i] = h[i * d + j];
        }
    return h;
}

}  // namespace hindcast::articulated
