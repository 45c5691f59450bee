// Sums over vectors of the host, in the order of their entries.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/base/vectors.hpp"

namespace hindcast::optim {

using Vector = std::vector<double>;

inline void add(Vector& to, double factor, const Vector& v) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += factor * v[k];
}
inline Vector difference(const Vector& a, const Vector& b) {
    Vector d = a;
    add(d, -1, b);
    return d;
}

}  // namespace hindcast::optim
