// All that happens to a kernel on a CPU, in order. A star marks an optional pass
// (optional_passes.hpp); the right column names the files that do it, in backend/ and cpu/.
//
//   once for a kernel: prepare()
//     lower              derived ops in terms of core ops               lang/lowering
//     choose sums        own, gathered, fixed, atomic: per parameter    plan/plan, plan/fixed_point
//     per-target *       gathered sums as loops over targets            per_target/target_loop
//       shifts *         at constant distances: no tables               per_target/target_kernel
//       symmetry *       items that look the same from both ends        per_target/symmetry
//
//   once for a layout of the arrays and a width: CompiledKernel
//     plan               what varies with the item, scratch memory      plan/plan
//     emit               LLVM text in lanes                             emit/kernel_writer, its folder
//       stencil-blocks * neighbors cut out of whole blocks              emit/stencil
//       prefetch *       far arrays fetched early                       emit/elements
//     compile            LLVM's own passes, machine code, the cache     jit/machine_code
//       quick-code *     of a long kernel twice: soon, then optimized   jit/machine_code
//
//   for every launch
//     bind               tables of entries, once per version of indices per_target/entry_tables
//       neighbor-runs *  neighbors that lie side by side                per_target/entry_tables
//     run                on threads, in blocks of items                 launch/compiled_kernel
//       unchanged-items * items whose results are there already         launch/unchanged_items
//       deferral *       several launches in one walk over the elements launch/deferred_work
#pragma once

#include <string>
#include <vector>

#include "engine/backend/cpu/per_target/target_loop.hpp"

namespace hindcast::backend {
struct KernelStage;  // kernel_stage.hpp
}

namespace hindcast::backend::cpu {

struct PreparedKernel {
    ir::Kernel lowered;
    FixedPlan fixed;
    Plan plan;             // for C-contiguous arrays
    PerTarget per_target;  // no groups: all sums stay with the items
};
PreparedKernel prepare(const ir::Kernel& traced, const CompileOptions& options);

// The LLVM modules that a launch over C-contiguous arrays runs, in that order.
std::vector<std::string> llvm_modules(const PreparedKernel& kernel, const CompileOptions& options);

// The kernel after each step that changes it, by the names above: IR, LLVM text, assembly; for
// C-contiguous arrays. Throws Error without LLVM.
std::vector<KernelStage> stages(const ir::Kernel& traced, const CompileOptions& options);

}  // namespace hindcast::backend::cpu
