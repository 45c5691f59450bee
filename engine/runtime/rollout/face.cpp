// The face of a roll-out: everything is done by its Work (work.hpp).
#include "engine/runtime/rollout/work.hpp"

namespace hindcast {

Rollout::Rollout(std::shared_ptr<Device> device, Parts parts)
    : work_(std::make_unique<Work>(std::move(device), std::move(parts))) {}
Rollout::~Rollout() = default;
Rollout::Rollout(Rollout&&) noexcept = default;
Rollout& Rollout::operator=(Rollout&&) noexcept = default;

void Rollout::set_step_counter(const Array& counter) { work_->modes.set_step_counter(counter); }
std::int64_t Rollout::forward(bool keep, const Watch& watch, RolloutMode mode) {
    return work_->forward(keep, watch, mode);
}
Rollout::State Rollout::copy_state(std::int64_t step) { return work_->copy_state(step); }
std::int64_t Rollout::forward_from(const State& state, const Watch& watch) {
    return work_->forward_from(state, watch);
}
void Rollout::stop_if_not_finite(std::vector<Array> arrays, std::int64_t every) {
    work_->modes.stop_if_not_finite(std::move(arrays), every);
}
const std::optional<Rollout::Divergence>& Rollout::divergence() const {
    return work_->steps.finite.divergence();
}
bool Rollout::look(std::int64_t step) { return work_->steps.finite.look(step); }
void Rollout::look_later(bool on) { work_->steps.finite.look_later(on); }
const Array& Rollout::not_finite() const { return work_->steps.finite.flags(); }
void Rollout::backward(const std::vector<Seed>& seeds, RolloutMode mode) {
    work_->backward(seeds, mode);
}
void Rollout::follow_backward(const Sequence* sequence) { work_->follow_backward(sequence); }
void Rollout::leave_backward(const Sequence* sequence) { work_->leave_backward(sequence); }
void Rollout::limit_memory(MemoryLimit limit) { work_->modes.limit_memory(std::move(limit)); }
std::int64_t Rollout::memory_limit() const { return work_->modes.limit().bytes; }
void Rollout::force_plan(std::int64_t segment, std::int64_t checkpoints) {
    work_->modes.force_plan(segment, checkpoints);
}
void Rollout::set_horizon(std::int64_t steps) { work_->set_horizon(steps); }
std::int64_t Rollout::horizon() const { return work_->modes.horizon(); }
void Rollout::start_at_horizon() { work_->start_at_horizon(); }
bool Rollout::starts_at_horizon() const { return work_->starts_at_horizon(); }
const CheckpointPlan& Rollout::plan(RolloutMode mode) { return work_->modes.planned(mode).plan; }
void Rollout::allocate(RolloutMode mode) { work_->modes.allocated(mode); }
std::int64_t Rollout::planned_bytes(const std::vector<RolloutMode>& modes) {
    return work_->modes.planned_bytes(modes);
}
void Rollout::warm_up() { work_->costs.warm_up(); }
std::int64_t Rollout::function_bytes() const { return work_->modes.function_bytes(); }
const StepCosts& Rollout::measure(RolloutMode mode) { return work_->costs.measure(mode); }
std::string Rollout::whole_program_report() const { return work_->whole_program_report(); }
void Rollout::profile(bool on) { work_->steps.launches.profile(on); }
std::vector<Rollout::Profile> Rollout::profiles() const { return work_->profiles(); }
std::string Rollout::timeline() const { return work_->modes.describe(); }
std::vector<Rollout::KeptValue> Rollout::kept_values(RolloutMode mode) {
    return work_->kept_values(mode);
}
std::vector<Rollout::KeptSum> Rollout::kept_sums(RolloutMode mode) {
    return work_->kept_sums(mode);
}
void Rollout::record_adjoint_norms(bool on) { work_->steps.adjoints.record(on); }
const Rollout::AdjointNorms& Rollout::adjoint_norms() const {
    return work_->steps.adjoints.norms();
}
void Rollout::watch_adjoints(AdjointWatch watch) { work_->steps.adjoints.watch(std::move(watch)); }
std::int64_t Rollout::kept_bytes() const { return work_->modes.kept_bytes(); }
std::int64_t Rollout::steps() const { return work_->modes.parts().steps; }
Rollout::StepLaunches Rollout::step_launches() {
    return {work_->modes.parts().step.launches().size(),
            work_->modes.mode_for(RolloutMode::first, false).schedule->step.size()};
}
std::string Rollout::launch_between_steps() { return work_->launch_between_steps(); }

}  // namespace hindcast
