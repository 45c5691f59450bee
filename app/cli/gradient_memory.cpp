#include "app/cli/gradient_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/command.hpp"
#include "engine/base/aligned.hpp"

namespace hindcast::cli {

GradientMemory::GradientMemory(Simulation& simulation, bool second)
    : rollout_(simulation.rollout()) {
    Rollout& rollout = simulation.rollout();
    rollout.warm_up();
    before_ = memory_use().current - rollout.function_bytes();
    std::vector<RolloutMode> modes{RolloutMode::first};
    if (second) modes.push_back(RolloutMode::second);
    for (const RolloutMode mode : modes) rollout.measure(mode);
    predicted_ = rollout.planned_bytes(modes);
    plan_ = rollout.plan();
    if (second) second_ = rollout.plan(RolloutMode::second);
    reset_memory_peak();
}

std::int64_t GradientMemory::measured() const {
    return memory_use().peak - before_ - rollout_.function_bytes();
}

void GradientMemory::allocate() {
    if (second_) rollout_.allocate(RolloutMode::second);
    rollout_.allocate();
}

void GradientMemory::print_plan(int label_width) const {
    fmt::print("  {:<{}}{}\n", "gradients", label_width, plan_.describe());
    if (second_) fmt::print("  {:<{}}{}\n", "Hessian", label_width, second_->describe());
}

void GradientMemory::print_peak() const {
    fmt::print("  memory        at most {} for gradients, {} predicted\n", bytes_text(measured()),
               bytes_text(predicted_));
}

document::Node GradientMemory::node() const {
    return document::Node::object({{"plan", name_of(plan_.kind)},
                                   {"steps", plan_.steps},
                                   {"segments", plan_.segments},
                                   {"segment_steps", plan_.segment},
                                   {"states_stored", plan_.checkpoints},
                                   {"states_in_files", plan_.spilled},
                                   {"recomputed_steps", plan_.recomputed_steps},
                                   {"predicted_bytes", predicted_},
                                   {"measured_bytes", measured()},
                                   {"predicted_time_factor", plan_.time_factor}});
}

}  // namespace hindcast::cli
