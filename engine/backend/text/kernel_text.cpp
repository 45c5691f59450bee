#include "engine/backend/text/kernel_text.hpp"

#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/cpu/pipeline.hpp"
#include "engine/backend/cuda/emit.hpp"

namespace hindcast::backend {

std::string kernel_text(const ir::Kernel& kernel, KernelText what, const CompileOptions& options) {
    switch (what) {
        case KernelText::ir: return ir::print(kernel);
        case KernelText::llvm: return cpu_llvm_text(kernel, options);
        case KernelText::assembly: return cpu_assembly(kernel, options);
        default: return cuda::emit(cuda::plan_for(kernel), cuda::identifier(kernel.name)).text;
    }
}

std::vector<KernelStage> kernel_stages(const ir::Kernel& kernel, const CompileOptions& options) {
    return cpu::stages(kernel, options);
}

}  // namespace hindcast::backend
