// Items that a launch can leave out: those whose results are there already.
//
// Points that move over a grid leave most of it empty, and what a kernel makes of an empty node is
// the same in every step. An array knows outside of which elements it is idle (ArrayFacts): zero
// there, or what one kernel makes of zeros. A launch whose items read and write only their own
// elements runs those items for which something that they read is busy, or was before; the others'
// results would be what is there. What all items read (numbers, arrays at other indices) must have
// the version that it had; what is read and written must stay zero where all is zero, which a run
// over zeros in other memory shows, once for such versions.
//
// No bit depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/backend/array_facts.hpp"
#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

class UnchangedItems {
public:
    explicit UnchangedItems(const Plan& plan);

    // Runs the kernel over some items, with other bindings.
    using Run = std::function<void(const Binding*, ActiveRange range)>;
    // The items that have to run, 0 .. items-1 or fewer.
    ActiveRange busy(const Binding* bindings, std::int64_t items, const Run& run);
    // What is known of the arrays once these have run.
    void learn(std::vector<FactUpdate>& learned) const;

    // What a run changes, and what it reads at other elements than its own.
    struct Effects {
        std::vector<const ArrayFacts*> written, read_elsewhere;
    };
    // If a run may wait for others over the same elements (passes.hpp): no item can fail, and it is
    // known what they work with. Else nullptr.
    const Effects* effects(const Binding* bindings, std::int64_t items);

private:
    struct Own {  // an array whose elements the items have to themselves
        int parameter = 0;
        bool read = false, written = false;
        bool cleared = false;  // every item stores zeros
    };
    bool read_inputs(const Binding* bindings, std::int64_t items);
    bool keeps_zeros(const Binding* bindings, std::int64_t items, const Run& run) const;

    const Plan& plan_;
    bool possible_ = false, may_wait_ = false;
    Effects effects_;
    std::vector<Own> own_;
    std::vector<int> shared_;                     // what is read at other indices, and numbers
    std::vector<std::uint64_t> versions_, next_;  // items; what has to be the same, 0: idle
    std::uint64_t number_ = 0;                    // of the kernel and these versions, everywhere
    ActiveRange inputs_;                          // where what items read is busy
    bool keeps_zeros_ = false, knows_ = false;
    int changes_ = 0;  // of the versions, one launch after the other
};

}  // namespace hindcast::backend::cpu
