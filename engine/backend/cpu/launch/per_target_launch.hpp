// The launch of a kernel as loops over targets (target_loop.hpp), and then its other items.
//
// A loop over targets that reads neighbors can wait for launches over the same elements that
// follow it (deferred_work.hpp): forces between particles and their effect on each particle take
// one walk over the particles.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/backend/cpu/launch/compiled_kernel.hpp"
#include "engine/backend/cpu/launch/deferred_work.hpp"

namespace hindcast::backend::cpu {

FixedPlan no_fixed_point(const ir::Kernel& kernel);
// The remaining kernel keeps the fixed-point sums; the terms stand behind its parameters.
FixedPlan fixed_for(const ir::Kernel& rest, const Plan& plan);

class PerTargetLaunch {
public:
    PerTargetLaunch(const Plan& plan, const PerTarget& per_target, const CompileOptions& options);

    void prepare(const Binding* bindings, std::int64_t items);
    // False: this launch cannot run over targets, and nothing was done but what waited.
    bool run(const Binding* bindings, std::int64_t items, const RunOptions& options);

private:
    struct Part {
        std::vector<int> group;
        std::vector<ir::Value> reduced;
        std::unique_ptr<TargetLoop> loop;
        std::unique_ptr<CompiledKernels> code, inner;  // inner: if shifted
        CompileOptions options;
        const std::vector<Binding>* bound = nullptr;

        void compile(const CompileOptions& with);
        void prepare(const Binding* bindings) const;
        std::pair<CompiledKernel*, CompiledKernel*> variants(const Binding* bindings) const;
        // From now on without copies of what items read.
        void read_in_place(const Plan& plan);
    };
    bool is_one_loop() const;
    bool find_effects(const Binding* bindings);
    void run_targets(const Binding* bindings, std::int64_t items, DeferredWork& deferred);
    // With the terms that the first part stored.
    const Binding* bind_rest(const Binding* bindings);

    Plan plan_;
    std::vector<Part> parts_;
    CompiledKernels rest_;
    bool has_rest_;
    std::vector<Binding> bindings_;  // of the rest
    LoopArrays effects_;             // of the loop over targets; empty: it is not to wait
};

}  // namespace hindcast::backend::cpu
