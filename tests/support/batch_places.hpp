// How tests lay out the members of a batch (engine/ir/batch.hpp): integers that are only read are
// the same for all members, everything else is each member's own and C-contiguous.
#pragma once

#include <vector>

#include "engine/ir/batch.hpp"
#include "engine/ir/memory_type.hpp"

namespace hindcast::test {

inline bool is_shared(const ir::Parameter& p) {
    return !ir::is_real(p.type) && ir::only_reads(p.access);
}

inline std::vector<ir::BatchParameter> places(const ir::Kernel& kernel) {
    std::vector<ir::BatchParameter> list;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
        list.push_back({is_shared(kernel.parameters[p]), static_cast<int>(p),
                        kernel.parameters[p].components, 1});
    return list;
}

}  // namespace hindcast::test
