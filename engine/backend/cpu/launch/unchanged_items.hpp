// Items that a launch can leave out: those whose results are there already.
//
// Points that move over a grid leave most of it empty, and a kernel's results for an empty node are
// the same in every step. An array knows the range outside of which it is idle (ArrayFacts): zero
// there, or the result of one kernel for zeros. A launch whose items read and write only their own
// elements runs the items that read something busy, or did before; the other items would store the
// values that are there already. Values that all items read (numbers, arrays at other indices) must
// have the same version as before. Arrays that are both read and written must stay zero when all
// values are zero; a run over zeros in other memory tests that, once per set of versions.
//
// No bit depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/backend/array_facts.hpp"
#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

class UnchangedItems {
public:
    explicit UnchangedItems(const Plan& plan);

    // Runs the kernel over some items, with other bindings.
    using Run = std::function<void(const Binding*, ActiveRange range)>;
    // The items that have to run, 0 .. items-1 or fewer.
    ActiveRange busy(const Binding* bindings, std::int64_t items, const Run& run);
    // Adds the facts about the arrays that hold once these items have run.
    void learn(std::vector<FactUpdate>& learned) const;

    // The arrays that it uses if a run may wait for others over the same elements: no item can fail, and the
    // arrays are known. Otherwise nullptr.
    const LoopArrays* effects(const Binding* bindings, std::int64_t items);

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
    LoopArrays effects_;
    std::vector<Own> own_;
    std::vector<int> shared_;                     // arrays read at other indices, and numbers
    std::vector<std::uint64_t> versions_, next_;  // items; versions that must be the same, 0: idle
    std::uint64_t number_ = 0;                    // of the kernel and these versions, everywhere
    ActiveRange inputs_;                          // busy range of the arrays that items read
    bool keeps_zeros_ = false, knows_ = false;
    int changes_ = 0;  // of the versions, one launch after the other
};

}  // namespace hindcast::backend::cpu
