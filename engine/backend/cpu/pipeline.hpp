// All that happens to a kernel on a CPU, in order. A star marks an optional pass
// (optional_passes.hpp); the right column names the files that do it.
//
//   once for a kernel: prepare()
//     lower              derived ops in terms of core ops                  lang/lowering
//     choose sums        own, gathered, fixed, atomic: per parameter       cpu_plan, fixed_point
//     per-target *       gathered sums as loops over targets               pull
//       shifts *         at constant distances: no tables                  pull
//       symmetry *       items that look the same from both ends           mirror
//       zero-guards *    guards only where a sum ends as NaN               zero_guards
//       slow-first *     roots and quotients early                         pull
//
//   once for a layout of the arrays and a width: CompiledKernel
//     plan               what varies with the item, scratch memory         cpu_plan
//     emit               LLVM text in lanes                                cpu_emit and the other cpu_*
//       stencil-blocks * neighbours cut out of whole blocks                cpu_stencil
//       prefetch *       far arrays fetched early                          cpu_memory
//     compile            LLVM's own passes, machine code, the cache        llvm, machine_code, code_cache
//
//   for every launch
//     bind               tables of entries, once per version of indices    pull_table, gather
//       neighbour-runs * neighbours that lie side by side                  pull_table
//     run                on threads, in blocks of items                    cpu_variant, cpu_pulled, split
//       unchanged-items * items whose results are there already            cpu_idle
//       term-chunks *    sums over items behind the loop over targets      term_chunks
//       trailing-rest *  the rest a few blocks behind a stencil            cpu_pulled
//       deferral *       several launches in one walk over the elements    deferred_work
#pragma once

#include <string>
#include <vector>

#include "engine/backend/cpu/per_target/target_loop.hpp"

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

struct Stage {
    std::string name;  // of the step, as above
    std::string text;  // what it leaves: IR, LLVM text or assembly
};
// Those that change the kernel, for C-contiguous arrays. Assembly needs LLVM; Throws Error without
// it.
std::vector<Stage> stages(const ir::Kernel& traced, const CompileOptions& options);

}  // namespace hindcast::backend::cpu
