#include "engine/runtime/array/magnitude.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hindcast {

namespace {

// Without their sign, the bits of reals are ordered as the reals are, with NaN above infinity.
template <class Real, class Word>
double largest(const Array& array) {
    constexpr Word no_sign = ~Word{0} >> 1;
    const bool whole =
        array.component_stride() == 1 && array.element_stride() == array.components();
    const std::int64_t n = whole ? array.size() : array.elements();
    const std::int64_t step = whole ? 1 : array.element_stride();
    Word most = 0;
    for (int c = 0; c < (whole ? 1 : array.components()); ++c) {
        const Word* data = static_cast<const Word*>(array.data()) + c * array.component_stride();
        for (std::int64_t e = 0; e < n; ++e) most = std::max(most, data[e * step] & no_sign);
    }
    return static_cast<double>(std::bit_cast<Real>(most));
}

}  // namespace

double largest_magnitude(const Array& array) {
    if (!ir::is_real(array.type())) return 0;
    return array.type() == ir::Type::f32 ? largest<float, std::uint32_t>(array)
                                         : largest<double, std::uint64_t>(array);
}

}  // namespace hindcast
