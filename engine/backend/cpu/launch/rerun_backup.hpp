// RerunBackup: copies of memory that a launch reads and changes, so that it can run once more.
//
// Sums in fixed point need it (fixed_sums.hpp): a wrong scale shows only after the run. If the
// copies would cost more than running the kernel without its effects, that is done first instead
// (FixedPlan::measure).
#pragma once

#include <span>
#include <vector>

#include "engine/backend/plan/copy_elements.hpp"
#include "engine/backend/plan/plan.hpp"
#include "engine/base/aligned.hpp"

namespace hindcast::backend::cpu {

class RerunBackup {
public:
    explicit RerunBackup(const Plan& plan);

    // True if copies cost less than a run.
    bool pays(const Binding* bindings, std::int64_t items) const;
    // The copies by which a run can be undone, besides those that the run makes anyway.
    std::span<const Copy> copies(const Binding* bindings, std::span<const Copy> made_anyway);
    // With the bindings of the last copies(), when all have been made.
    void restore(ThreadPool* pool) const { copy_back(copies_, pool); }

private:
    const Plan& plan_;
    std::vector<Copy> copies_;  // of each changed parameter; the last ones are made anyway
    std::vector<AlignedBuffer<std::byte>> blocks_;
};

}  // namespace hindcast::backend::cpu
