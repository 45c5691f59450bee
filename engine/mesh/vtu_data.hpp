// The bytes of an array of a VTU file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/base/error.hpp"

namespace hindcast::mesh {

// The encoding of a file's arrays.
struct DataForm {
    bool swapped = false;       // big endian
    bool long_headers = false;  // lengths are of 64 bits, not 32
    bool compressed = false;    // by zlib, block by block
};

// The error that says what is wrong with the array.
using Fault = std::function<Error(const std::string& happened)>;

// The bytes of the array that begins where `data` does: a header with lengths, then what it
// announces. `raw`: not in base64. Throws the fault.
std::string array_bytes(std::string_view data, bool raw, const DataForm& form, const Fault& fault);

}  // namespace hindcast::mesh
