// Kernels over elements of N components, whatever N is: a scalar of one, or a vector.
#pragma once

#include "engine/lang/kernel.hpp"

namespace hindcast {

// R: lang::Float, Single, Int ...
template <class R, int N>
struct Element {
    using Type = lang::Vec<R, N>;
};
template <class R>
struct Element<R, 1> {
    using Type = R;
};
template <class R, int N>
using ElementOf = typename Element<R, N>::Type;

template <int N, class T>
const auto& component_of(const T& element, int c) {
    if constexpr (N == 1)
        return element;
    else
        return element[c];
}

// Each component of array[e] <- f(component).
template <int N, class Array, class F>
void store_components(const Array& array, const lang::Int& e, const F& f) {
    if constexpr (N == 1)
        array[e] = f(0);
    else
        for (int c = 0; c < N; ++c) array[e][c] = f(c);
}

}  // namespace hindcast
