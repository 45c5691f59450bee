#include "engine/geometry/kinds/capsule.hpp"

#include <cmath>

namespace hindcast::geometry::kinds {

using numeric::plus;
using numeric::scaled;

SurfaceMesh Capsule::surface(const numeric::Vec3& e, double radius, int dimension, int around) {
    const double length = std::sqrt(numeric::dot(e, e)), right = std::numbers::pi / 2;
    if (dimension == 2) {
        const numeric::Vec3 d = length > 0 ? scaled(e, 1 / length) : e, left{-d[1], d[0], 0};
        std::vector<numeric::Vec3> outline{{}};
        const int half_way = around / 2;
        for (const double end : {1.0, -1.0})
            for (int k = 0; k <= half_way; ++k) {
                const double angle = 2 * right * k / half_way - right;
                const numeric::Vec3 out =
                    plus(scaled(d, end * std::cos(angle)), scaled(left, end * std::sin(angle)));
                outline.push_back(plus(scaled(e, end), scaled(out, radius)));
            }
        outline.push_back(outline[1]);
        return filled_outline(outline);
    }
    std::vector<Ring> profile;
    const int quarter = around / 4;
    for (const double end : {-1.0, 1.0})
        for (int k = 0; k <= quarter; ++k) {
            // From the pole to the equator, and back.
            const int step = end < 0 ? k : quarter - k;
            const double out = step == 0 ? 0 : std::sin(right * step / quarter),
                         along = end * std::cos(right * step / quarter);
            profile.push_back({radius * out, end * length + radius * along, out, along});
        }
    return revolved(e, profile, around);
}

}  // namespace hindcast::geometry::kinds
