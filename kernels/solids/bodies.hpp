// Bodies: the elements of a scene's solids, for modules that act on them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::solids {

struct Body {
    Array corners, inverse, volume;  // as the kernels in elements.hpp have them
    std::vector<double> centroids;   // of every element at rest, m
    std::int64_t elements = 0;
};

// Model::shared() holds it; filled as the solids are built, which is before all forces.
struct Bodies {
    std::map<std::string, Body> by_name;
};

}  // namespace hindcast::solids
