#include "engine/runtime/rollout/adjoint_look.hpp"

#include <cmath>

namespace hindcast {

namespace {
// The sum of squares over s * s, s = 1 unless that leaves the range of f64.
template <class T>
double sum_of_squares(const Array& array, double scale) {
    const T* data = static_cast<const T*>(array.data());
    double sum = 0;
    for (int c = 0; c < array.components(); ++c)
        for (std::int64_t e = 0; e < array.elements(); ++e) {
            const double x = static_cast<double>(
                                 data[e * array.element_stride() + c * array.component_stride()]) /
                             scale;
            sum += x * x;
        }
    return sum;
}

double sum_of_squares(const Array& array, double scale) {
    return array.type() == ir::Type::f32 ? sum_of_squares<float>(array, scale)
                                         : sum_of_squares<double>(array, scale);
}
}  // namespace

void AdjointLook::begin(std::int64_t first, std::int64_t last) {
    if (!records_) return;
    norms_.first = first;
    norms_.norms.assign(static_cast<std::size_t>(last - first + 1), 0.0);
    norms_.not_finite = -1;
    norms_.culprit = Array();
}

void AdjointLook::at_boundary(const Schedule& s, std::int64_t t) {
    if (records_) note_norm(s, t);
    if (watch_) watch_(t);
}

void AdjointLook::note_norm(const Schedule& s, std::int64_t t) {
    constexpr double large = 0x1p600, small = 0x1p-300;
    const auto varies = [&](const Array& a) {
        return ir::is_real(a.type()) && a.has_gradient() && contains(s.gradients, a.gradient());
    };
    double sum = 0, scaled = 0;
    for (const Array& a : s.state) {
        if (!varies(a)) continue;
        const double part = sum_of_squares(a.gradient(), 1);
        const double part_scaled =
            std::isfinite(part) ? part / large / large : sum_of_squares(a.gradient(), large);
        if (!std::isfinite(part_scaled) && norms_.not_finite < 0) {
            norms_.not_finite = t;
            norms_.culprit = a;
        }
        sum += part;
        scaled += part_scaled;
    }
    double norm = std::isfinite(sum) ? std::sqrt(sum) : std::sqrt(scaled) * large;
    if (norm < small) {  // squares of what is very small are lost
        sum = 0;
        for (const Array& a : s.state)
            if (varies(a)) sum += sum_of_squares(a.gradient(), 1 / large);
        norm = std::sqrt(sum) / large;
    }
    norms_.norms[static_cast<std::size_t>(t - norms_.first)] = norm;
}

}  // namespace hindcast
