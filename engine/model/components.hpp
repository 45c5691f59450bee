// Arrays by name, numbers in rows, and kernels on arrays of any shape: written once, with the
// number of components as a template argument.
//
//     model::for_components(array, [&](auto C) { return copy<C>(); })
#pragma once

#include <type_traits>

#include "engine/base/error.hpp"
#include "engine/model/model.hpp"

namespace hindcast::model {

// The additional schema of a field of `values` that may be a list of rows (Settings::quantity()
// with a grid).
inline constexpr const char* rows_schema =
    R"({"type":"array","items":{"type":"array","items":{"type":"number"}}})";

// The published array of reals that the node names; `owner` may be left out of the name, as "robot" of
// "robot.qpos" ("": none). Throws Error at the node, with "did you mean".
Array array_named(const Model& model, const document::Node& node, const std::string& owner = {});

// Calls f with the number of components of the array's elements as a constant. Throws Error for a
// number without a case.
template <class F>
auto for_components(const Array& array, F f) {
    const auto components = array.shape().size() > 1 ? array.shape()[1] : 1;
    switch (components) {
        case 1: return f(std::integral_constant<int, 1>{});
        case 2: return f(std::integral_constant<int, 2>{});
        case 3: return f(std::integral_constant<int, 3>{});
        case 4: return f(std::integral_constant<int, 4>{});
        case 6: return f(std::integral_constant<int, 6>{});
        case 9: return f(std::integral_constant<int, 9>{});
        case 10: return f(std::integral_constant<int, 10>{});
        default:
            throw Error("arrays whose elements have " + std::to_string(components) +
                        " numbers are not read")
                .remedy("name one whose elements have 1, 2, 3, 4, 6, 9 or 10");
    }
}

}  // namespace hindcast::model
