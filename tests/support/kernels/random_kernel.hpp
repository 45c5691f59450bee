// Random kernels over the whole language, for tests that compare two ways to compute the same
// thing: derivatives against differences and against each other (gradient), compiled code against
// the interpreter (parity).
//
//     const test::Case c = test::random_case(seed, ir::Precision::f32);
//     const test::Data base = test::random_inputs(c, seed);
//
// A seed gives the same kernel with every compiler. The kernels are differentiable at almost all
// inputs, their values stay near 1, and they use: scalars, vectors with traced components,
// matrices, integers of several widths, if_, for_ and while_ nested, own elements (also at an
// injective index), Accumulate, Sum, WriteSlice, Reduce, Param, Property, select, min, max, and
// grad() inside the kernel. Many have parameters of every kind that they do not use. The adjoint and the tangent of such a kernel are cases as good as the
// kernel itself: add_derivative_inputs() gives them inputs.
#pragma once

#include <cstdint>

#include "tests/support/kernels/kernel_harness.hpp"

namespace hindcast::test {

struct RandomOptions {
    bool elementary = true;  // sin, exp, pow, ...
    bool grad = true;        // some kernels differentiate inside
    bool probes = false;     // see below
    bool singular = false;   // literals 0, -0, infinity and NaN: to compare bits, not derivatives
    int statements = 5;      // at top level
    int budget = 18;         // statements in all
};

// Three work items. With `probes` the kernel also does, at many points of nested control flow,
//     probe[j] += v * unit[j]     with a fresh j each time that the point is passed,
// so that with unit = 1 probe shows what the forward run computed, and with a seed of 1 the adjoint
// of unit shows what the adjoint recomputed or stored: they must have the same bits.
Case random_case(std::uint64_t seed, ir::Precision precision = ir::Precision::f64,
                 const RandomOptions& options = {});
Data random_inputs(const Case& random, std::uint64_t seed);

// Energies e(a, b) by statements as above, where a and b are the components of v: the kernel writes
// e to energy_out. With `derivatives` it also writes, by gradient() and hessian() inside, the
// gradient (2) and the Hessian's upper triangle (3) with respect to v, to gradient_out and
// hessian_out. The same seed gives the same energy both times.
Case random_energy(std::uint64_t seed, bool derivatives);

}  // namespace hindcast::test
