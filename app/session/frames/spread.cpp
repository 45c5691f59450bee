#include "app/session/frames/spread.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace hindcast::session {

namespace {

constexpr int bits = 20;  // of each coordinate

// Along the curve: the bits of the coordinates in turns.
std::uint64_t z_order(const std::array<std::uint64_t, 3>& cell, int dimension) {
    std::uint64_t code = 0;
    for (int b = bits - 1; b >= 0; --b)
        for (int c = 0; c < dimension; ++c)
            code =
                code << 1U | (cell[static_cast<std::size_t>(c)] >> static_cast<unsigned>(b) & 1U);
    return code;
}

}  // namespace

std::vector<std::uint32_t> spread_order(const std::vector<double>& places, int dimension) {
    const auto d = static_cast<std::size_t>(dimension);
    const std::size_t count = places.size() / d;
    std::array<double, 3> low{};
    double size = 0;
    for (std::size_t c = 0; c < d; ++c) {
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (std::size_t p = 0; p < count; ++p) {
            const double x = places[p * d + c];
            if (!std::isfinite(x)) continue;
            least = std::min(least, x);
            most = std::max(most, x);
        }
        low[c] = least;
        size = std::max(size, most - least);
    }
    constexpr auto cells = static_cast<double>((std::uint64_t{1} << bits) - 1);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> along;
    for (std::size_t p = 0; p < count; ++p) {
        std::array<std::uint64_t, 3> cell{};
        for (std::size_t c = 0; c < d; ++c) {
            const double part = size > 0 ? (places[p * d + c] - low[c]) / size : 0;
            if (std::isfinite(part))
                cell[c] = static_cast<std::uint64_t>(std::lround(part * cells));
        }
        along.emplace_back(z_order(cell, dimension), static_cast<std::uint32_t>(p));
    }
    std::ranges::sort(along);
    std::vector<std::uint32_t> order;
    const int width = count > 1 ? static_cast<int>(std::bit_width(count - 1)) : 0;
    for (std::uint64_t k = 0; k < std::uint64_t{1} << static_cast<unsigned>(width); ++k) {
        std::uint64_t reversed = 0;
        for (int b = 0; b < width; ++b)
            reversed = reversed << 1U | (k >> static_cast<unsigned>(b) & 1U);
        if (reversed < count) order.push_back(along[reversed].second);
    }
    return order;
}

}  // namespace hindcast::session
