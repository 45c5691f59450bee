// Sums over vectors of numbers, in the order of their entries.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace hindcast {

// Both of one length.
inline double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The largest magnitude; 0 for none. Entries that are not numbers are passed over.
inline double largest(std::span<const double> v) {
    double most = 0;
    for (const double x : v) most = std::max(most, std::fabs(x));
    return most;
}

}  // namespace hindcast
