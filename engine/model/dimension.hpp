// Kernels for vectors of two or three components: written once, with the dimension as a template
// argument, and made for the scene's dimension.
//
//     template <int D>
//     KernelDef kick() { using V = Vec<Float, D>; ... }
//
//     model::for_dimension(model, [](auto D) { return kick<D>(); })
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/model/model.hpp"

namespace hindcast::model {

// f gets the dimension as a constant.
template <class F>
auto for_dimension(std::int64_t dimension, F f) {
    if (dimension == 2) return f(std::integral_constant<int, 2>{});
    return f(std::integral_constant<int, 3>{});
}
template <class F>
auto for_dimension(const Model& model, F f) {
    return for_dimension(model.dimension(), f);
}
// The same for a kernel that is published, whose option "dimension" says which.
template <class F>
auto for_dimension(const Settings& options, F f) {
    return for_dimension(options.integer("dimension"), f);
}

}  // namespace hindcast::model
