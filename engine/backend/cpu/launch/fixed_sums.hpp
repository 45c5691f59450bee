// Fixed-point accumulation at run time: integer sums of every thread, their scale, and the pass
// that adds them to the targets.
//
// Emitted code adds integers to `FixedState::sums`, [element][slot], and notes the largest term and
// the elements touched. Sums are private to a thread where that pays, else (more than
// private_elements elements per term) all threads add to one array by atomic instructions: the same
// bits. Only touched elements are summed, and cleared while that is done, so that all sums are zero
// between launches.
//
// The scale depends on the largest term, which is known after the run: a launch runs with the scale
// of the one before, and once more if its own is another. Before a second run the values that the
// first one changed are put back (rerun_backup.hpp); or the kernel is measured first
// (FixedPlan::measure) if that costs less. Terms that are not finite cost another run: with the
// scale 1 it finds the largest finite one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend/array_facts.hpp"
#include "engine/backend/binding.hpp"
#include "engine/backend/cpu/emit/fixed_state.hpp"
#include "engine/backend/plan/plan.hpp"
#include "engine/base/aligned.hpp"

namespace hindcast {
class ThreadPool;
}

namespace hindcast::backend {
class DeferredWork;
}

namespace hindcast::backend::cpu {

// Sums are private to a thread up to so many elements of the target per term of the launch.
inline constexpr double private_elements = 4;

// The state of a run's scales, given its terms.
enum class Scales : std::uint8_t {
    right,
    changed,  // they are right now: clear and run again
    unknown   // there are terms that are not finite: measure
};

class FixedPointSums {
public:
    explicit FixedPointSums(const Plan& plan);
    bool empty() const { return targets_.empty(); }

    // Before a launch: room for the sums.
    void prepare(const Binding* bindings, std::int64_t items, ThreadPool* pool);
    // The next run is one in which terms keep their value: check() then sets the right scales.
    void start_measuring();
    Scales check(std::int64_t items);
    // True if one of them differed.
    bool copy_scales(const FixedPointSums& measured);
    // Adds the totals to the targets, and clears the sums: in deferred loops that run before the
    // next prepare(). `learned`: as in RunOptions.
    void add(const Binding* bindings, DeferredWork& deferred,
             std::vector<FactUpdate>* learned = nullptr);
    // Clears the sums and the notes.
    void clear();

    // The sums and notes of one thread.
    struct alignas(64) Slot {
        std::vector<FixedState> states;  // per fixed parameter
        std::vector<AlignedBuffer<std::int64_t>> sums;
        alignas(64) std::atomic<bool> taken{false};
    };
    // The number of the run that prepare() or clear() has begun; the caller passes it to tasks.
    std::uint64_t run() const { return run_; }
    // A slot for task `task` of `tasks`, until release().
    Slot* acquire(std::int64_t task, std::int64_t tasks, std::uint64_t run);
    static void release(Slot* slot);

private:
    struct Target {  // per fixed parameter
        int symbol = -1, components = 0, slots = 0, stride = 0;
        ir::Type type = ir::Type::f32;
        bool defines = false;  // Sum, and no other parameter has this buffer
        bool shared = false;
        FixedScale scale;
        // The sums that are to be added, and their target.
        Binding to;
        struct Source {
            std::int64_t* sums = nullptr;
            ActiveRange touched;
        };
        std::vector<Source> sources;
    };
    FixedState* noted(std::size_t slot, std::size_t k) const;
    void apply_scale(std::size_t k);
    std::vector<FixedState::Found> take_non_finite(std::size_t k);
    ActiveRange find_sources(std::size_t k);
    void add_range(std::size_t k, std::int64_t begin, std::int64_t end);

    const Plan& plan_;
    std::vector<Target> targets_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::size_t used_ = 0;  // slots of this launch
    bool measuring_ = false;
    alignas(64) std::uint64_t run_ = 0;  // threads that run tasks do not look at it
};

}  // namespace hindcast::backend::cpu
