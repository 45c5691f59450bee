// Derivatives inside a kernel: materials are written as energies, forces and Hessians are derived.
//
//     Mat3 F = variable(deformation_gradient);
//     Float energy = ...F...;
//     Mat3 P = grad(energy, F);            // first Piola stress
//
// Only what variable() made can be differentiated by: an opaque copy, so that two loads of one
// element stay two variables. variable() and grad() must lie in the same activation of the same
// region.
#pragma once

#include <functional>
#include <vector>

#include "engine/lang/buffers.hpp"

namespace hindcast::ad {

// An opaque copy of x that grad() can differentiate by.
lang::Float variable(const lang::Float& x);
template <class T>
T variable(const T& x) {
    T copy;
    for (int k = 0; k < lang::Shape<T>::components; ++k)
        lang::Shape<T>::component(copy, k) = variable(lang::Shape<T>::component(x, k));
    return copy;
}

// d expression / d variables, as traced values.
std::vector<lang::Float> gradient(const lang::Float& expression,
                                  const std::vector<lang::Float>& variables,
                                  const lang::Location& location = lang::Location::current());

// The gradient in the shape of the variable: Float, Vec or Mat.
template <class T>
T grad(const lang::Float& expression, const T& variables,
       const lang::Location& location = lang::Location::current()) {
    std::vector<lang::Float> list;
    for (int k = 0; k < lang::Shape<T>::components; ++k)
        list.push_back(lang::Shape<T>::component(variables, k));
    const std::vector<lang::Float> g = gradient(expression, list, location);
    T result;
    for (int k = 0; k < lang::Shape<T>::components; ++k)
        lang::Shape<T>::component(result, k) = g[static_cast<std::size_t>(k)];
    return result;
}

// Second derivatives, n x n row by row: the upper triangle is derived, the lower one mirrored.
std::vector<std::vector<lang::Float>> hessian(
    const lang::Float& expression, const std::vector<lang::Float>& variables,
    const lang::Location& location = lang::Location::current());

// A value with the derivative zero.
lang::Float stop_gradient(const lang::Float& x);

// outputs = f(inputs), with a derivative given by hand: adjoint(seeds, inputs, outputs) returns one
// adjoint per input, linear in the seeds. The Jacobian is read off by unit seeds and attached to
// the value (op attach_slope), so that forward mode, reverse mode and second derivatives (of the
// Jacobian itself) follow from it. Third derivatives are right only if the adjoint does not use the
// outputs.
using Floats = std::vector<lang::Float>;
Floats custom_gradient(const Floats& inputs, const std::function<Floats(const Floats&)>& f,
                       const std::function<Floats(const Floats& seeds, const Floats& inputs,
                                                  const Floats& outputs)>& adjoint);

// The scalar y with residual(y, inputs) = 0, found by `solve`, with the derivative of the implicit
// theorem: dy = -(dr/dinputs dinputs) / (dr/dy), at the solution. Derivatives up to the given order
// are right; each costs one evaluation of the residual.
lang::Float implicit_root(
    const Floats& inputs, const std::function<lang::Float(const Floats&)>& solve,
    const std::function<lang::Float(const lang::Float& y, const Floats& inputs)>& residual,
    int order = 2);

}  // namespace hindcast::ad
