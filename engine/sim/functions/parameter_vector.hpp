// The parameters and their gradient as flat vectors of f64 on the simulation's device, and the
// launches between them and the arrays that the physics' kernels read.
//
//     const ParameterVector vector(parameters, device);
//     vector.add_gather(after_backward, gradient, pick::gradient);   // f64 {n}, of the caller
//     vector.add_scatter(update, values, pick::itself);             // rounded once
#pragma once

#include <vector>

#include "engine/runtime/program/sequence.hpp"
#include "engine/sim/functions/picks.hpp"
#include "engine/sim/parameters.hpp"

namespace hindcast {

class ParameterVector {
public:
    ParameterVector(const Parameters& parameters, std::shared_ptr<Device> device);
    using Pick = pick::Pick;
    // to <- the quantities' arrays.
    void add_gather(Sequence& sequence, const Array& to, Pick pick) const;
    // The quantities' arrays <- from; numbers that are not parameters stay.
    void add_scatter(Sequence& sequence, const Array& from, Pick pick) const;

private:
    struct Part {  // a parameter
        std::string path;
        Array array;
        std::int64_t first = 0;           // in the vector
        Array element, component, entry;  // see the kernels
    };
    std::shared_ptr<Device> device_;
    std::vector<Part> parts_;
};

}  // namespace hindcast
