// Effects: for each parameter the elements that a kernel reads, writes, adds to, or leaves alone.
//
//     const std::vector<Effects> all = effects_of(kernel);   // one for each parameter
//     if (!all[p].defines_all) ...                           // all[p].not_defined says why
//
// An element is the item's own where the index is the work item itself. An index that is only
// declared injective is one of the others: which elements it reaches is not known.
#pragma once

#include <string>
#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

struct Effects {
    bool reads_own = false;     // the item's own element, or the one value of the launch
    bool reads_other = false;   // elements at other indices
    bool writes_own = false;    // stores the item's own element
    bool writes_other = false;  // stores elements at other indices
    bool adds_own = false;      // to the item's own element
    bool adds_other = false;    // to elements at other indices
    bool counts = false;        // atomic operations, at any index
    bool reduces = false;       // adds to one value per launch
    bool clears = false;        // first sets the whole array to zero
    bool leaves_zero = false;   // stores zero in all of the own element, and nothing else
    // Afterward nothing is left of what the array held before: it is cleared, or it has as many
    // elements as there are items, and every component of each is stored on every path.
    bool defines_all = false;
    std::string not_defined;  // why not, as the rest of a sentence that begins with the parameter
    SourcePlace place;        // of the op that is the reason, if one is

    bool adds() const { return adds_own || adds_other; }
    bool writes() const {
        return writes_own || writes_other || adds() || counts || reduces || clears;
    }
    bool uses_old_values() const {
        return reads_own || reads_other || (adds() && !clears) || counts || reduces;
    }
    bool touches() const { return writes() || uses_old_values(); }
};

std::vector<Effects> effects_of(const Kernel& kernel);

}  // namespace hindcast::ir
