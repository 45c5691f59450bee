// Folders that may hold LLVM besides those of the system: an environment of Python, for instance.
#pragma once

#include <string>

namespace hindcast::backend {

// Looked at when LLVM is opened and the system has none (llvm.hpp); has no effect after that.
void add_llvm_folder(std::string folder);

}  // namespace hindcast::backend
