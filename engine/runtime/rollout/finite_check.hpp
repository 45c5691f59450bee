// FiniteCheck: forward runs look for numbers that are not finite now and then, and stop
// (Rollout::stop_if_not_finite). For this folder only.
#pragma once

#include <optional>
#include <vector>

#include "engine/runtime/device/device.hpp"
#include "engine/runtime/rollout/rollout.hpp"

namespace hindcast {

class FiniteCheck {
public:
    explicit FiniteCheck(const std::shared_ptr<Device>& device) : device_(device) {}

    void set(std::vector<Array> arrays, std::int64_t every);
    const std::vector<Array>& arrays() const { return arrays_; }
    std::int64_t every() const { return every_; }  // steps; 0: never
    void look_later(bool on) { looks_later_ = on; }

    void forget() { divergence_.reset(); }  // before a run
    void clear_flags() const;               // where its launches begin
    // Looks if it is due after t of so many steps: every so many, and after the last.
    bool stops(std::int64_t t, std::int64_t steps);
    // Looks now: true, and a divergence(), if there is such a number.
    bool look(std::int64_t t);
    const std::optional<Rollout::Divergence>& divergence() const { return divergence_; }

    // On a CUDA device: a flag for each array, 1 where one was found. found_by_graph() is true if a
    // graph that has run found one that no other check will see; it clears the flags.
    const Array& flags() const { return flags_; }
    bool found_by_graph();

private:
    void look_on_device();
    const Array* found_on_device();

    const std::shared_ptr<Device>& device_;
    std::vector<Array> arrays_;
    std::int64_t every_ = 0;
    Array flags_;
    bool looked_ = false, looks_later_ = false;
    std::optional<Rollout::Divergence> divergence_;
};

}  // namespace hindcast
