#include "app/session/threads/work/scene_optimization.hpp"

#include <algorithm>
#include <utility>

namespace hindcast::session {

void SceneOptimization::make() {
    state_.now.simulation->parameters().set_values(*state_.values);
    optimization_ = std::make_unique<Optimization>(*state_.now.simulation);
    began_ = false;
    const Lock lock(state_.shared.mutex);
    publish();
}

void SceneOptimization::make_again() {
    began_ = false;
    if (optimization_) optimization_ = std::make_unique<Optimization>(*state_.now.simulation);
}

void SceneOptimization::lengthen() {
    const std::int64_t more =
        std::max<std::int64_t>(Optimization(*state_.now.simulation).iterations(), 1);
    auto longer = std::make_unique<Optimization>(*state_.now.simulation, iteration_ + more);
    longer->restore(optimization_->state());
    optimization_ = std::move(longer);
}

void SceneOptimization::drop() {
    began_ = false;
    optimization_.reset();
}

void SceneOptimization::publish() const {
    OptimizationSnapshot& draft = state_.shared.draft.optimization;
    draft.optimizer = optimization_ ? optimization_->describe() : "";
    draft.iterations_planned = optimization_ ? optimization_->iterations() : 0;
}

SceneOptimization::Carried SceneOptimization::leave() {
    Carried carried;
    if (optimization_) {
        if (began_ && !state_.rests) carried.state = optimization_->state();
        if (Optimization(*state_.now.simulation).iterations() != optimization_->iterations())
            carried.iterations = optimization_->iterations();
    }
    drop();
    return carried;
}

void SceneOptimization::enter(const Carried& carried) {
    optimization_ = std::make_unique<Optimization>(*state_.now.simulation, carried.iterations);
    if (!carried.state) return;
    try {
        optimization_->restore(*carried.state);
        began_ = true;
    } catch (const Error&) {
        began_ = false;
    }
    state_.now.simulation->parameters().set_values(*state_.values);
}

}  // namespace hindcast::session
