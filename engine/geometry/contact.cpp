#include "engine/geometry/contact.hpp"

#include "engine/ad/grad.hpp"

namespace hindcast::geometry {

Vec3 without_derivative(const Vec3& v) {
    return Vec3(ad::stop_gradient(v.x()), ad::stop_gradient(v.y()), ad::stop_gradient(v.z()));
}

Shape without_derivative(const Shape& s) {
    Shape still(without_derivative(s.place), s.axes, without_derivative(s.size));
    for (int k = 0; k < 9; ++k) still.axes(k / 3, k % 3) = ad::stop_gradient(s.axes(k / 3, k % 3));
    return still;
}

}  // namespace hindcast::geometry
