// The parameters and their gradient as flat vectors of f64 on the simulation's device, and the
// launches between them and the arrays that the physics' kernels read.
//
//     ParameterVector vector(parameters, device, values, gradient);   // f64 {n}, of the caller
//     vector.add_gather(after_backward);   // gradient <- the quantities' gradients
//     vector.add_scatter(update);          // the quantities <- values, rounded once
#pragma once

#include <vector>

#include "engine/runtime/sequence.hpp"
#include "engine/sim/parameters.hpp"

namespace hindcast {

class ParameterVector {
public:
    ParameterVector(const Parameters& parameters, const std::shared_ptr<Device>& device,
                    const Array& values, const Array& gradient);
    void add_gather(Sequence& sequence) const;
    void add_scatter(Sequence& sequence) const;

private:
    std::vector<Launch> gather_, scatter_;  // one per parameter
};

}  // namespace hindcast
