// Texts of a kernel for people: the command line, the window and tests all get them here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/backend/executable.hpp"
#include "engine/backend/kernel_stage.hpp"

namespace hindcast::backend {

enum class KernelText : std::uint8_t {
    ir,        // ir::print()
    llvm,      // LLVM IR of the CPU's code, over C-contiguous arrays
    assembly,  // that code for this processor; needs LLVM
    cuda       // CUDA C++ over C-contiguous arrays, without the prelude
};

// Throws Error if the text cannot be made: there is no LLVM, or the kernel cannot be compiled.
// `options` say for how many lanes llvm and assembly are.
std::string kernel_text(const ir::Kernel& kernel, KernelText what,
                        const CompileOptions& options = {});

// The kernel's stages in the CPU back end, for C-contiguous arrays. Throws Error as above.
std::vector<KernelStage> kernel_stages(const ir::Kernel& kernel, const CompileOptions& options);

}  // namespace hindcast::backend
