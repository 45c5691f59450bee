// An order of points in which the first of them, however many, are spread evenly.
#pragma once

#include <cstdint>
#include <vector>

namespace hindcast::session {

// `places`: `dimension` numbers (2 or 3) for each point. The order goes through the points along a Z-order
// curve (Morton 1966), whose parts are neighbors in space, by van der Corput's sequence: the first
// 2^k points are one of each 2^k-th part of the curve, and the first of any number nearly so.
std::vector<std::uint32_t> spread_order(const std::vector<double>& places, int dimension);

}  // namespace hindcast::session
