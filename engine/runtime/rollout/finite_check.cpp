#include "engine/runtime/rollout/finite_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/backend/cuda/context.hpp"
#include "engine/runtime/array/magnitude.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast {

using backend::cuda::address_of;

void FiniteCheck::set(std::vector<Array> arrays, std::int64_t every) {
    arrays_ = std::move(arrays);
    every_ = every;
    flags_ = {};
    looked_ = false;
    if (device_->cuda() && every > 0 && !arrays_.empty())
        flags_ = Array(ir::Type::i32, {static_cast<std::int64_t>(arrays_.size())});
}

void FiniteCheck::clear_flags() const {
    if (flags_) flags_.memory().clear();  // its version stands: it is not an index
}

bool FiniteCheck::stops(std::int64_t t, std::int64_t steps) {
    return t > 0 && (t % std::max<std::int64_t>(every_, 1) == 0 || t == steps) && look(t);
}

bool FiniteCheck::look(std::int64_t t) {
    if (every_ <= 0) return false;
    if (const auto& cuda = device_->cuda()) {
        look_on_device();
        // A graph, or a caller that wants it so, looks afterward.
        if (cuda->capturing() || cuda->follows_capture() || looks_later_) return false;
        if (const Array* const found = found_on_device())
            divergence_ = Rollout::Divergence{t, *found};
        return divergence_.has_value();
    }
    for (const Array& a : arrays_) {
        if (std::isfinite(largest_magnitude(a))) continue;
        divergence_ = Rollout::Divergence{t, a};
        return true;
    }
    return false;
}

// Sets a flag for each array that holds something else; they stay set until they are read, or the
// next run begins.
void FiniteCheck::look_on_device() {
    backend::cuda::Context& cuda = *device_->cuda();
    looked_ = true;
    auto* const flags = static_cast<std::byte*>(flags_.memory().on(device_->cuda()));
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
        const Array& a = arrays_[k];
        if (!ir::is_real(a.type())) continue;
        const std::size_t size = a.type() == ir::Type::f64 ? sizeof(double) : sizeof(float);
        cuda.find_not_finite(address_of(a.memory().on(device_->cuda())), size, a.bytes() / size,
                             address_of(flags + k * sizeof(std::int32_t)));
    }
}

const Array* FiniteCheck::found_on_device() {
    if (!looked_) return nullptr;
    backend::cuda::Context& cuda = *device_->cuda();
    const auto at = address_of(flags_.memory().on(device_->cuda()));
    std::vector<std::int32_t> flags(arrays_.size());
    const std::size_t bytes = flags.size() * sizeof(std::int32_t);  // the array's are more
    cuda.download(flags.data(), at, bytes);
    const auto found = std::find(flags.begin(), flags.end(), 1);
    if (found == flags.end()) return nullptr;
    cuda.clear(at, bytes);
    return &arrays_[static_cast<std::size_t>(found - flags.begin())];
}

bool FiniteCheck::found_by_graph() {
    return every_ > 0 && !looks_later_ && found_on_device() != nullptr;
}

}  // namespace hindcast
