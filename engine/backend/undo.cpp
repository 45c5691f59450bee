#include "engine/backend/undo.hpp"

namespace hindcast::backend::cpu {

Undo::Undo(const Plan& plan) : plan_(plan), blocks_(plan.changed.size()) {
    for (const int p : plan.changed) {
        const ir::Parameter& parameter = plan.kernel.parameter(p);
        copies_.push_back({{}, parameter.components, ir::size_of(parameter.type), nullptr});
    }
}

bool Undo::pays(const Binding* bindings, std::int64_t items) const {
    // An operation for an item takes about as long as copying a byte.
    double bytes = 0;
    for (std::size_t k = 0; k < copies_.size(); ++k)
        bytes += static_cast<double>(bindings[plan_.changed[k]].count) *
                 static_cast<double>(copies_[k].scalar) * copies_[k].components;
    return bytes <= static_cast<double>(items) * plan_.work;
}

std::span<const Copy> Undo::copies(const Binding* bindings) {
    for (std::size_t k = 0; k < copies_.size(); ++k) {
        Copy& copy = copies_[k];
        copy.array = bindings[plan_.changed[k]];
        if (blocks_[k].size() < copy.bytes()) blocks_[k] = AlignedBuffer<std::byte>(copy.bytes());
        copy.block = blocks_[k].data();
    }
    return copies_;
}

}  // namespace hindcast::backend::cpu
