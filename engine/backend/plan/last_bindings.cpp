#include "engine/backend/plan/last_bindings.hpp"

#include <algorithm>

#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend {

using ir::Kernel;
using ir::Parameter;

LastBindings::LastBindings(const Kernel& kernel) {
    const bool several =
        std::count_if(kernel.parameters.begin(), kernel.parameters.end(), accumulates) > 1;
    for (const Parameter& p : kernel.parameters) may_alias_.push_back(several && accumulates(p));
}

bool LastBindings::change(const Binding* bindings) {
    bool same = last_.size() == may_alias_.size();
    for (std::size_t p = 0; p < last_.size() && same; ++p) {
        const Binding &a = last_[p], &b = bindings[p];
        same = a.element_stride == b.element_stride && a.component_stride == b.component_stride &&
               a.count == b.count && a.padded == b.padded && a.kept == b.kept &&
               (may_alias_[p] == 0 || a.data == b.data);
    }
    if (same) return false;
    last_.assign(bindings, bindings + may_alias_.size());
    return true;
}

}  // namespace hindcast::backend
