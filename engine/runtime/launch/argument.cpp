// Arguments of launches, and the names of their directions.
#include <algorithm>

#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

const char* name_of(Direction direction) {
    switch (direction) {
        case Direction::forward: return "forward";
        case Direction::adjoint: return "adjoint";
        case Direction::tangent: return "tangent";
        case Direction::adjoint_tangent: return "adjoint tangent";
        case Direction::tangent_tangent: return "second tangent";
    }
    return "?";
}

Argument::Argument(std::span<const double> numbers) {
    if (numbers.size() > most_numbers)
        throw Error("a launch parameter of " + std::to_string(numbers.size()) +
                    " numbers is too large")
            .remedy("the limit is " + std::to_string(most_numbers) + ": pass an array");
    std::copy(numbers.begin(), numbers.end(), numbers_.begin());
    count_ = static_cast<int>(numbers.size());
}

}  // namespace hindcast
