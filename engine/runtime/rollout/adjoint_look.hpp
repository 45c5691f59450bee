// AdjointLook: what backward() lets others see at each boundary between two steps: the norm of the
// adjoint of the state, and a watch (Rollout::record_adjoint_norms, watch_adjoints). For this
// folder only.
#pragma once

#include <utility>

#include "engine/runtime/rollout/rollout.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

class AdjointLook {
public:
    void record(bool on) { records_ = on; }
    void watch(Rollout::AdjointWatch watch) { watch_ = std::move(watch); }
    const Rollout::AdjointNorms& norms() const { return norms_; }

    // True if steps must go back one by one.
    bool looks() const { return records_ || watch_; }
    void begin(std::int64_t first, std::int64_t last);
    void at_boundary(const Schedule& s, std::int64_t t);

private:
    void note_norm(const Schedule& s, std::int64_t t);

    bool records_ = false;
    Rollout::AdjointNorms norms_;
    Rollout::AdjointWatch watch_;
};

}  // namespace hindcast
