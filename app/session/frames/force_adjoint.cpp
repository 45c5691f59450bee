#include "app/session/frames/force_adjoint.hpp"

#include <algorithm>
#include <optional>

#include "engine/base/error.hpp"

namespace hindcast::session {

namespace {

const model::PointIntegrator& points_of(const model::Model& model) {
    const std::optional<model::PointIntegrator>& points = model.integrator();
    if (!points) throw Error("forces have adjoints only where points are moved by them");
    return *points;
}

}  // namespace

bool ForceAdjoint::holds_for(model::Model& model) {
    using model::Phase;
    return model.integrator() && model.phase(Phase::velocity_update).launches().size() == 1 &&
           model.phase(Phase::velocity_constraints).launches().empty() &&
           model.phase(Phase::end).launches().empty();
}

ForceAdjoint::ForceAdjoint(model::Model& model)
    : inverse_mass_(points_of(model).inverse_mass.to_doubles()),
      sum_(static_cast<std::size_t>(points_of(model).position.size()), 0.0),
      step_(model.step()),
      type_(model.real()),
      shape_(points_of(model).position.shape()) {
    // Without a gradient nothing depends on the array: its adjoint is zero.
    const model::PointIntegrator& points = points_of(model);
    if (points.position.has_gradient()) position_ = points.position.gradient();
    if (points.velocity.has_gradient()) velocity_ = points.velocity.gradient();
}

void ForceAdjoint::add() {
    const std::size_t d = sum_.size() / std::max<std::size_t>(inverse_mass_.size(), 1);
    const auto add_scaled = [&](const Array& adjoint, double factor) {
        if (!adjoint) return;
        const std::vector<double> values = adjoint.to_doubles();
        for (std::size_t k = 0; k < sum_.size(); ++k)
            sum_[k] += factor * inverse_mass_[k / d] * values[k];
    };
    add_scaled(velocity_, step_);
    add_scaled(position_, step_ * step_);
}

Array ForceAdjoint::take() {
    Array taken = Array::from(sum_, type_, shape_);
    std::fill(sum_.begin(), sum_.end(), 0.0);
    return taken;
}

}  // namespace hindcast::session
