// Numbers that are not finite: forward runs look for them now and then, and stop.
#include <algorithm>
#include <cstdint>

#include "engine/backend/cuda/context.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/rollout/mode.hpp"

namespace hindcast {

using backend::cuda::address_of;

void Rollout::Work::stop_if_not_finite(std::vector<Array> arrays, std::int64_t every) {
    watched_ = std::move(arrays);
    watched_every_ = every;
    for (auto& [mode, m] : modes_) {
        m->whole.reset();
        m->graphs.reset();
    }
    not_finite_ = {};
    looked_ = false;
    if (device_->cuda() && every > 0 && !watched_.empty())
        not_finite_ = Array(ir::Type::i32, {static_cast<std::int64_t>(watched_.size())});
}

namespace {
// A number is finite where its exponent is not all ones.
template <class Word, Word exponent>
bool is_finite(const Array& array) {
    const bool whole =
        array.component_stride() == 1 && array.element_stride() == array.components();
    const std::int64_t n = whole ? array.size() : array.elements();
    const std::int64_t step = whole ? 1 : array.element_stride();
    for (int c = 0; c < (whole ? 1 : array.components()); ++c) {
        const Word* data = static_cast<const Word*>(array.data()) + c * array.component_stride();
        Word most = 0;
        for (std::int64_t e = 0; e < n; ++e) most = std::max(most, data[e * step] & exponent);
        if (most == exponent) return false;
    }
    return true;
}
bool is_finite(const Array& array) {
    if (!ir::is_real(array.type())) return true;
    return array.type() == ir::Type::f32 ? is_finite<std::uint32_t, 0x7f800000>(array)
                                         : is_finite<std::uint64_t, 0x7ff0000000000000>(array);
}
}  // namespace

bool Rollout::Work::diverges(std::int64_t t) {
    const bool due = t > 0 && (t % std::max<std::int64_t>(watched_every_, 1) == 0 || t == steps());
    return due && look(t);
}

bool Rollout::Work::look(std::int64_t t) {
    if (watched_every_ <= 0) return false;
    if (const auto& cuda = device_->cuda()) {
        look_on_device();
        // Who runs the graph, or wants it so, looks afterwards.
        if (cuda->capturing() || cuda->follows_capture() || looks_later_) return false;
        if (const Array* const found = not_finite_on_device()) diverged_ = Divergence{t, *found};
        return diverged_.has_value();
    }
    for (const Array& a : watched_) {
        if (is_finite(a)) continue;
        diverged_ = Divergence{t, a};
        return true;
    }
    return false;
}

// Sets a flag for each array that holds something else; they stay set until they are read, or the
// next run begins.
void Rollout::Work::look_on_device() {
    backend::cuda::Context& cuda = *device_->cuda();
    looked_ = true;
    auto* const flags = static_cast<std::byte*>(not_finite_.memory().on(device_->cuda()));
    for (std::size_t k = 0; k < watched_.size(); ++k) {
        const Array& a = watched_[k];
        if (!ir::is_real(a.type())) continue;
        const std::size_t size = a.type() == ir::Type::f64 ? sizeof(double) : sizeof(float);
        cuda.find_not_finite(address_of(a.memory().on(device_->cuda())), size, a.bytes() / size,
                             address_of(flags + k * sizeof(std::int32_t)));
    }
}

const Array* Rollout::Work::not_finite_on_device() {
    if (!looked_) return nullptr;
    backend::cuda::Context& cuda = *device_->cuda();
    const auto at = address_of(not_finite_.memory().on(device_->cuda()));
    std::vector<std::int32_t> flags(watched_.size());
    const std::size_t bytes = flags.size() * sizeof(std::int32_t);  // the array's are more
    cuda.download(flags.data(), at, bytes);
    const auto found = std::find(flags.begin(), flags.end(), 1);
    if (found == flags.end()) return nullptr;
    cuda.clear(at, bytes);
    return &watched_[static_cast<std::size_t>(found - flags.begin())];
}

}  // namespace hindcast
