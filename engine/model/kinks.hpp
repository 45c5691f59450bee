// Kinks: numbers of the scene at which a derivative has two sides whatever moves, such as the equal
// frictions of two bodies of which the larger one counts. Gradient checks and identification name them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace hindcast::model {

struct Kink {
    std::string quantity;   // its path
    std::size_t entry = 0;  // in Quantity::values
    std::string why;        // a sentence with the remedy
};

// In Model::shared(). The functions say which kinks there are at the values as they are.
struct Kinks {
    std::vector<std::function<std::vector<Kink>()>> of_modules;
};

}  // namespace hindcast::model
