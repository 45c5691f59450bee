// The bindings of a kernel's last launch: where they have changed, other code may be needed.
#pragma once

#include <vector>

#include "engine/backend/binding.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast::backend {

class LastBindings {
public:
    explicit LastBindings(const ir::Kernel& kernel);
    // True if the form may differ from that of the bindings given last.
    bool change(const Binding* bindings);
    const std::vector<Binding>& bindings() const { return last_; }

private:
    std::vector<char> may_alias_;  // per parameter: another sum may have the same buffer
    std::vector<Binding> last_;
};

}  // namespace hindcast::backend
