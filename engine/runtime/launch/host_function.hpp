// HostFunction: work that a launch does by calling a function of the host where other launches run
// a kernel. A launch of it has replays, needs and gradients like every other, so programs, tapes and
// roll-outs take it as it is.
//
// Its kernel has parameters and no body (ir::Kernel::is_host_function): each parameter counts as
// used in every way that its access allows. Derivatives have the parameters that those of a kernel
// have, by the same names, with one difference: an adjoint finds in an output what the launch left
// there (Parameter::holds_result), not what it found.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/binding.hpp"
#include "engine/ir/kernel.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

class HostFunction {
public:
    virtual ~HostFunction() = default;
    // Arrays that it reads (Read) or defines (Write, ReadWrite), and numbers that it takes (value).
    virtual const std::vector<ir::Parameter>& parameters() const = 0;
    // Sets the parameters with gradients and tangents, before the first derivative is made.
    virtual void differentiate_only(const std::vector<std::string>& active) = 0;
    // Does the work of one direction. `bindings` has one entry for each parameter of `signature`,
    // in memory of the host; gradients are added to, those of outputs are taken and replaced.
    virtual void run(Direction direction, const ir::Kernel& signature,
                     const backend::Binding* bindings) = 0;
};

// The parameters of one direction, from those of the function; `active` as in
// Launch::differentiate_only, empty: every real one.
ir::Kernel signature_of(const std::string& name, const std::vector<ir::Parameter>& parameters,
                        ir::Precision precision, Direction direction,
                        const std::vector<std::string>& active);

}  // namespace hindcast
