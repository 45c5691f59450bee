// Integrators: the ways in which the points of a scene move in a step.
#pragma once

#include <cstdint>

namespace hindcast::model {

enum class Integrator : std::uint8_t {
    semi_implicit_euler,  // by forces, as they are at the start of the step
    implicit_euler,       // to the minimum of inertia m/(2 h^2) |x - x~|^2 and energies
    bdf2,                 // the same of second order; the first step is one of implicit Euler
    quasi_static          // to the minimum of the energies
};
inline constexpr Integrator all_integrators[] = {Integrator::semi_implicit_euler,
                                                 Integrator::implicit_euler, Integrator::bdf2,
                                                 Integrator::quasi_static};
const char* name_of(Integrator integrator);  // the scene's word

}  // namespace hindcast::model
