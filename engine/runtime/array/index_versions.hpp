// IndexVersions: whether index arrays still hold what something was made from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/runtime/array/array_set.hpp"

namespace hindcast {

class IndexVersions {
public:
    // each(visit) calls visit(array) for all arrays, real or not, some more than once. `counter`
    // may change.
    template <class Each>
    void note(const Each& each, const Array& counter = {}) {
        indices_.clear();
        ArraySet seen;
        each([&](const Array& a) {
            if (a && !ir::is_real(a.type()) && !(counter && a.same_memory(counter)) &&
                seen.insert(a))
                indices_.emplace_back(a, a.version());
        });
    }
    bool hold() const {
        return std::all_of(indices_.begin(), indices_.end(),
                           [](const auto& index) { return index.first.version() == index.second; });
    }

private:
    std::vector<std::pair<Array, std::uint64_t>> indices_;
};

}  // namespace hindcast
