#include "kernels/colliders/penalty_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/colliders/obstacle_pairs.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/point_names.hpp"
#include "kernels/particles/small_motions.hpp"

namespace hindcast {

using model::Model;
using model::Quantity;

namespace {

double value(const Quantity* q) { return q == nullptr ? 0 : q->values.front(); }

constexpr const char* friction_remedy =
    "make the time step smaller (\"substeps\") or slip_speed larger, or choose the response "
    "\"impact\"";

std::string text_of_friction(const std::string& name, double ratio) {
    return fmt::format(
        "the friction of '{}' is unstable: friction N h / (m slip_speed) is {:.3g}, "
        "above 2",
        name, ratio);
}

// The largest friction N h / (m slip_speed) of all points, and its point.
struct Worst {
    double ratio = 0;
    std::int64_t point = -1;
};
Worst worst_friction(const Model& model, const PenaltyContact& c, const Array& positions,
                     const Array& velocities, const Array& inverse_masses) {
    const auto D = static_cast<std::size_t>(model.dimension());
    const std::vector<double> x = positions.to_doubles(), v = velocities.to_doubles(),
                              w = inverse_masses.to_doubles();
    const std::vector<double>& place = c.place->values;
    const double length = barrier::norm_of(place);
    Worst worst;
    for (std::int64_t p = c.range.first; p < c.range.first + c.range.count; ++p) {
        const double* const at = &x[static_cast<std::size_t>(p) * D];
        const double* const speed = &v[static_cast<std::size_t>(p) * D];
        double distance = 0, normal_speed = 0;
        if (c.plane) {
            for (std::size_t k = 0; k < D; ++k) {
                distance += place[k] / length * at[k];
                normal_speed += place[k] / length * speed[k];
            }
        } else {
            for (std::size_t k = 0; k < D; ++k) distance += std::pow(at[k] - place[k], 2);
            distance = std::sqrt(distance);
            for (std::size_t k = 0; k < D && distance > 0; ++k)
                normal_speed += (at[k] - place[k]) / distance * speed[k];
        }
        distance -= value(c.size);
        if (!(distance < 0)) continue;
        const double push =
            std::max(0.0, -value(c.stiffness) * distance - value(c.damping) * normal_speed);
        const double ratio = value(c.friction) * push * w[static_cast<std::size_t>(p)] *
                             model.step() / value(c.slip_speed);
        if (ratio > worst.ratio) worst = {ratio, p};
    }
    return worst;
}

void check_at_rest(Model& model, const PenaltyContact& c) {
    const std::vector<double>& g = model.find_quantity("gravity")->values;
    const std::vector<double>& n = c.place->values;
    double along = 0;
    for (std::size_t k = 0; k < g.size(); ++k) along += g[k] * n[k];
    // A sphere has normals in all directions; a plane onto which gravity does not press has no N.
    const double pressing =
        c.plane ? std::max(0.0, -along / barrier::norm_of(n)) : barrier::norm_of(g);
    const double ratio = value(c.friction) * pressing * model.step() / value(c.slip_speed);
    if (ratio > 2)
        model.warnings().add({.identifier = "friction_step",
                              .happened = text_of_friction(c.name, ratio) + " for what rests on it",
                              .remedy = friction_remedy,
                              .pointer = c.pointer,
                              .numbers = {{"ratio", ratio}, {"limit", 2}}});
}

}  // namespace

void check_penalty(Model& model, const PenaltyContact& contact) {
    const std::vector<double>& masses = particles::SmallMotions::of(model).mass;
    const std::vector<char>& fixed = model.shared<particles::FixedPoints>().flags;
    double lightest = 0;
    for (std::int64_t p = contact.range.first; p < contact.range.first + contact.range.count; ++p) {
        const auto at = static_cast<std::size_t>(p);
        if (at < fixed.size() && fixed[at] != 0) continue;
        if (const double m = masses[at]; m > 0 && (lightest == 0 || m < lightest)) lightest = m;
    }
    if (lightest == 0) return;  // points of rigid bodies: their masses are elsewhere
    const double h = model.step(), b = h * h * value(contact.stiffness) / lightest,
                 a = 2 * h * value(contact.damping) / lightest;
    if (a + b > 4 * (1 + 1e-9)) {
        const double scale = particles::stable_part(a, b);
        model.warnings().add(
            {.identifier = "time_step",
             .happened = fmt::format("the step of {:.3g} s is beyond the limit of stability of the "
                                     "contact with '{}', {:.3g} s for a point of {:.3g} kg",
                                     h, contact.name, h * scale, lightest),
             .remedy = "make the time step smaller (\"substeps\") or the stiffness smaller",
             .pointer = contact.pointer,
             .numbers = {{"step", h}, {"limit", h * scale}}});
    }
    if (contact.friction == nullptr || value(contact.friction) == 0) return;
    check_at_rest(model, contact);
    const particles::Arrays arrays = particles::arrays(model);
    model.state_looks().push_back([&model, contact, arrays](const model::Look& look) {
        if (look.warnings.has("friction_step")) return;
        const Worst worst =
            worst_friction(model, contact, arrays.position, arrays.velocity, arrays.inverse_mass);
        if (worst.ratio <= 2) return;
        look.warnings.add({.identifier = "friction_step",
                           .happened = text_of_friction(contact.name, worst.ratio) + " for " +
                                       particles::point_name(model, worst.point),
                           .remedy = friction_remedy,
                           .pointer = contact.pointer,
                           .numbers = {{"ratio", worst.ratio}, {"limit", 2}},
                           .step = look.step});
    });
}

}  // namespace hindcast
