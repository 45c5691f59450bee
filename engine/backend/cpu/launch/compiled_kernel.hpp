// The code of a kernel and how a launch runs it: on one thread or several, with its sums gathered,
// reduced over chunks, or in fixed point.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/backend/array_facts.hpp"
#include "engine/backend/cpu/emit/emitter.hpp"
#include "engine/backend/cpu/launch/fixed_sums.hpp"
#include "engine/backend/cpu/launch/rerun_backup.hpp"
#include "engine/backend/cpu/launch/unchanged_items.hpp"
#include "engine/backend/cpu/per_target/target_loop.hpp"
#include "engine/backend/executable.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/backend/plan/inverse_index.hpp"
#include "engine/backend/plan/last_bindings.hpp"
#include "engine/backend/plan/plan.hpp"
#include "engine/backend/plan/work_split.hpp"

namespace hindcast::backend::cpu {

// The plan of a kernel and its code, made under one timer.
struct Compiled {
    Plan plan;
    std::shared_ptr<CodeRequest> code;

    Compiled(const ir::Kernel& lowered, const Form& form, const CompileOptions& options,
             const FixedPlan& fixed);
};

// The kernel for one form of its parameters and one width, with what its launches need besides.
class CompiledKernel {
public:
    CompiledKernel(const ir::Kernel& lowered, const Form& form, const CompileOptions& options,
                   const FixedPlan& fixed);

    // Waits for the code, which is made from the constructor on; before each run, which takes the best
    // code that there is.
    void finish() { function_ = reinterpret_cast<Function>(compiled_.code->get().entry()); }

    const Form& form() const { return plan_.form; }
    int width() const { return options_.width; }

    // Nothing of the options is about a device.
    void run(const Binding* bindings, std::int64_t items, const RunOptions& options);

    double work_of(std::int64_t items) const { return static_cast<double>(items) * plan_.work; }
    // A dispatch costs less than a microsecond; work of a few of them stays on this thread.
    bool is_short(std::int64_t items) const { return work_of(items) < short_work; }
    // Items begin .. end-1 on this thread; with reductions begin is a multiple of reduce_chunk.
    void run_range(const Binding* bindings, std::int64_t begin, std::int64_t end, Context& context);

private:
    using Function = void (*)(const Binding*, std::int64_t begin, std::int64_t end, Context*);

    void clear_sums(const Binding* bindings, std::int64_t items) const;
    void add_totals(const Binding* bindings, std::int64_t items) const;
    ActiveRange busy(const Binding* bindings, std::int64_t items);
    bool defer(const Binding* bindings, std::int64_t items, const RunOptions& options,
               bool may_leave_out);
    bool copies_with_items(const Copy& copy, const Binding* bindings, std::int64_t items) const;
    void expect(std::span<const Copy> copies, const Binding* bindings, std::int64_t items,
                ThreadPool* pool);
    void run_task(const Binding* bindings, std::int64_t begin, std::int64_t end, std::int64_t items,
                  std::uint64_t fixed_run, Context& context);
    ActiveRange occupied(const Binding* bindings, std::int64_t items) const;
    // Items from .. to, of so many.
    void run_items(const Binding* bindings, ActiveRange range, std::int64_t items,
                   ThreadPool* pool);
    void run_parallel(const Binding* bindings, ActiveRange range, std::int64_t items,
                      ThreadPool* pool);
    // With sums in fixed point, which fixed_.add() then adds to the targets. A launch runs with the
    // scales of the one before; where they were wrong it runs again, with what it has changed as it
    // was. Scales that keep changing are found before the run.
    void run_fixed(const Binding* bindings, std::int64_t items, ThreadPool* pool);
    // The kernel without its effects: only for the scales of the sums in fixed point.
    CompiledKernel& measuring();
    const FixedPointSums& measure(const Binding* bindings, std::int64_t items, ThreadPool* pool);

    const ir::Kernel& lowered_;
    CompileOptions options_;
    Compiled compiled_;
    const Plan& plan_ = compiled_.plan;
    Function function_ = nullptr;
    std::vector<std::size_t> sums_, reduces_;  // parameters
    std::vector<InverseIndex> inverses_;
    std::vector<double> chunk_totals_;  // [chunk][total]
    TermMemory terms_;
    FixedPointSums fixed_;
    RerunBackup undo_{plan_};
    UnchangedItems idle_{plan_};
    struct DeferredLaunch {  // the run that was, last
        std::vector<Binding> bindings;
        std::vector<Copy> copies;
        std::uint64_t among = 0;  // DeferredWork::number()
    };
    DeferredLaunch deferred_launch_;
    std::unique_ptr<CompiledKernel> measuring_;
    // Written at every launch, so not beside what all threads read.
    alignas(64) int misses_ = 0;  // launches whose scales were others than those before, lately
    alignas(64) std::vector<Copy> copies_;  // to be made by the next run of all items
};

// A kernel's code for every layout and width that was met.
class CompiledKernels {
public:
    CompiledKernels(ir::Kernel lowered, const CompileOptions& options, FixedPlan fixed)
        : lowered_(std::move(lowered)),
          fixed_(std::move(fixed)),
          options_(options),
          last_(lowered_) {}

    const ir::Kernel& lowered() const { return lowered_; }

    // The code for these bindings; compiles what was not met before.
    CompiledKernel& variant(const Binding* bindings, std::int64_t items,
                            const TargetLoop* loop = nullptr) {
        CompiledKernel& found = prepare(bindings, items, loop);
        found.finish();
        return found;
    }
    // The same, but does not wait for it.
    CompiledKernel& prepare(const Binding* bindings, std::int64_t items,
                            const TargetLoop* loop = nullptr);

private:
    ir::Kernel lowered_;
    FixedPlan fixed_;
    CompileOptions options_;
    std::vector<std::unique_ptr<CompiledKernel>> variants_;
    LastBindings last_;
    Form form_;                          // theirs
    CompiledKernel* current_ = nullptr;  // the code that ran them
};

}  // namespace hindcast::backend::cpu
