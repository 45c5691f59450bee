// The tree by which the lanes of a reduction are added (executable.hpp).
#pragma once

#include "engine/backend/executable.hpp"

namespace hindcast::backend {

// The total of a chunk, from those of its lanes, which do not keep theirs.
inline double add_pairwise(double* lanes) {
    for (int half = reduce_lanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    return lanes[0];
}

}  // namespace hindcast::backend
