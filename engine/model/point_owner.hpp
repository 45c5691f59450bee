// The body that a point of the scene belongs to.
#pragma once

#include <cstdint>
#include <string>

#include "engine/model/model.hpp"

namespace hindcast::model {

struct PointOwner {
    std::string body;         // ""; none
    std::int64_t number = 0;  // of the point within it; of the scene if there is none
};

inline PointOwner owner_of(const Model& model, std::int64_t point) {
    for (const auto& [body, range] : model.bodies_with_points())
        if (range.contains(point)) return {body, point - range.first};
    return {"", point};
}

}  // namespace hindcast::model
