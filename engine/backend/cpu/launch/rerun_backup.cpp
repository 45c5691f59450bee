#include "engine/backend/cpu/launch/rerun_backup.hpp"

#include <algorithm>

namespace hindcast::backend::cpu {

RerunBackup::RerunBackup(const Plan& plan)
    : plan_(plan), copies_(plan.changed.size()), blocks_(plan.changed.size()) {}

bool RerunBackup::pays(const Binding* bindings, std::int64_t items) const {
    // An operation for an item takes about as long as copying a byte.
    double bytes = 0;
    for (const int p : plan_.changed) {
        const ir::Parameter& parameter = plan_.kernel.parameter(p);
        bytes += static_cast<double>(bindings[p].count) *
                 static_cast<double>(ir::size_of(parameter.type)) * parameter.components;
    }
    return bytes <= static_cast<double>(items) * plan_.work;
}

std::span<const Copy> RerunBackup::copies(const Binding* bindings,
                                          std::span<const Copy> made_anyway) {
    std::size_t to_make = 0, behind = copies_.size();
    for (std::size_t k = 0; k < plan_.changed.size(); ++k) {
        const ir::Parameter& parameter = plan_.kernel.parameter(plan_.changed[k]);
        Copy copy{bindings[plan_.changed[k]], parameter.components, ir::size_of(parameter.type),
                  nullptr};
        const auto made =
            std::find_if(made_anyway.begin(), made_anyway.end(), [&](const Copy& other) {
                return other.array.data == copy.array.data && other.array.count == copy.array.count;
            });
        if (made != made_anyway.end()) {
            copies_[--behind] = *made;
            continue;
        }
        if (blocks_[k].size() < copy.bytes()) blocks_[k] = AlignedBuffer<std::byte>(copy.bytes());
        copy.block = blocks_[k].data();
        copies_[to_make++] = copy;
    }
    return {copies_.data(), to_make};
}

}  // namespace hindcast::backend::cpu
