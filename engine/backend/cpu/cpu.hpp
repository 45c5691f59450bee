// The CPU back end: kernels as SIMD machine code, on one thread or several.
//
//     auto executable = compile_cpu(kernel);
//     executable->run(bindings, items, {&pool});
//
// Start reading at pipeline.hpp: all that happens to a kernel, in order. Code is specialized on the
// layout of the arrays; a layout that was not seen before is compiled when it is first run, or
// prepared.
//
// HINDCAST_DUMP=FOLDER writes IR, LLVM text and assembly of every kernel that is compiled into that
// folder.
#pragma once

#include <memory>
#include <string>

#include "engine/backend/executable.hpp"

namespace hindcast::backend {

// Throws Error if the kernel cannot be compiled; LLVM is needed only for code that the cache does
// not hold.
std::shared_ptr<Executable> compile_cpu(const ir::Kernel& kernel,
                                        const CompileOptions& options = {});
// The same with an error for an index out of range, of launches whose arrays are as long as
// outside() (plan/index_check.hpp) asks.
std::shared_ptr<Executable> compile_cpu_with_checks(const ir::Kernel& kernel,
                                                    CompileOptions options);

// The code of launches over C-contiguous arrays, to read; several modules if it has loops over
// targets.
std::string cpu_llvm_text(const ir::Kernel& kernel, const CompileOptions& options = {});
std::string cpu_assembly(const ir::Kernel& kernel, const CompileOptions& options = {});

// Lanes that `width = 0` stands for.
int cpu_width(ir::Precision precision);

}  // namespace hindcast::backend
