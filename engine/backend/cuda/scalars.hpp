// Types and constants of the IR as CUDA C++.
#pragma once

#include <cstdint>
#include <string>

#include "engine/ir/type.hpp"

namespace hindcast::backend::cuda {

const char* type_name(ir::Type type);
std::string constant(ir::Type type, std::uint64_t bits);

}  // namespace hindcast::backend::cuda
