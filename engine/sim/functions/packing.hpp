// Launches between an array and a part of a flat vector of f64, on one device: the array's numbers
// in C order, whatever its layout, from `first` on.
#pragma once

#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

enum class Packing : std::uint8_t {
    pack,    // vector <- array
    unpack,  // array <- vector, rounded once
    add      // array += vector
};

// `first`: an i32 array of one number, or the number. Throws Error for arrays of integers, and of
// more components than a matrix of 3 x 3 has.
Launch packing(const std::shared_ptr<Device>& device, Packing how, const Array& array,
               const Array& vector, const Argument& first, const std::string& description);

}  // namespace hindcast
