// Paths: one grammar everywhere (scene, --set, parameters, tests): name.field[i].x, gravity.z,
// time.steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hindcast {

struct Path {
    std::vector<std::string> keys;        // "cage", "stiffness"
    std::optional<std::int64_t> element;  // [i]
    std::optional<int> component;         // .x .y .z -> 0 1 2, after an element or as the last key

    // Throws Error for an empty or malformed path.
    static Path parse(const std::string& text);
    std::string base() const;   // the keys joined by '.'
    std::string owner() const;  // all but the last key
};

}  // namespace hindcast
