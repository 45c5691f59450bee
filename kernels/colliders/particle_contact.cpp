// All particles of a body, or of the scene, as balls that meet each other (pairs.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/document/read.hpp"
#include "kernels/colliders/colliders.hpp"
#include "kernels/colliders/impacts.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/point_names.hpp"

namespace hindcast {

namespace {

using model::Settings;

// Balls that overlap before the first step, the first pair of them and its numbers.
struct Overlaps {
    std::int64_t count = 0, first = -1, second = -1;
    double distance = 0, reach = 0;  // of the first pair: between centers, and the sum of radii
    std::int64_t same_center[2] = {-1, -1};  // the first pair without a line of centers
};

// Two fixed points do not count, since neither can move; two points without a radius never meet.
Overlaps overlaps_at_start(model::Model& model, model::Range range) {
    const std::vector<double> x = particles::start_points(model);
    const auto dimension = static_cast<std::size_t>(model.dimension());
    std::vector<double> radii(static_cast<std::size_t>(model.point_count()), 0.0);
    for (const auto& [body, points] : model.bodies_with_points())
        if (const model::Quantity* const radius = model.find_quantity(body + ".radius"))
            std::fill_n(radii.begin() + points.first, points.count, radius->values.front());
    std::vector<char> fixed = model.shared<particles::FixedPoints>().flags;
    fixed.resize(radii.size(), 0);
    Overlaps found;
    for (std::int64_t i = range.first; i < range.first + range.count; ++i)
        for (std::int64_t j = i + 1; j < range.first + range.count; ++j) {
            const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
            const double reach = radii[a] + radii[b];
            double square = 0;
            for (std::size_t k = 0; k < dimension; ++k) {
                const double d = x[a * dimension + k] - x[b * dimension + k];
                square += d * d;
            }
            constexpr double rounding = 1e-6;  // balls that are placed side by side touch
            if (square >= reach * reach * (1 - 2 * rounding) || (fixed[a] != 0 && fixed[b] != 0))
                continue;
            if (found.count++ == 0)
                found.first = i, found.second = j, found.distance = std::sqrt(square),
                found.reach = reach;
            if (square == 0 && found.same_center[0] < 0)
                found.same_center[0] = i, found.same_center[1] = j;
        }
    return found;
}

class ParticleContact final : public model::Instance {
public:
    explicit ParticleContact(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(model::Model& model) override {
        constexpr std::int64_t most = 1000;
        const auto fault = [&](const std::string& what) {
            return document::fault(settings_->node(), what);
        };
        if (model.shared<impact::Impacts>().pairs)
            throw fault("a scene has one particle_contact at most")
                .remedy("leave \"of\" out: all particles that have a radius meet each other");
        const model::Range range = particles::body_or_all(*settings_, model);
        if (!model.has_array("radius"))
            throw fault("no particles have a radius")
                .remedy("give the bodies that meet a \"radius\" (m)");
        if (range.count > most)
            throw fault(std::to_string(range.count) +
                        " points are too many for particle_contact, which looks at all pairs of at "
                        "most " +
                        std::to_string(most))
                .remedy("name a body with \"of\", or make fewer points");
        const Overlaps overlaps = overlaps_at_start(model, range);
        if (overlaps.same_center[0] >= 0)
            throw fault(particles::point_name(model, overlaps.same_center[0]) + " and " +
                        particles::point_name(model, overlaps.same_center[1]) +
                        " have the same center at the start: there is no line along which these "
                        "balls could be parted")
                .remedy("move one of them by at least the sum of their radii");
        if (overlaps.count > 0) warn_of(overlaps, model);
        const auto given = [&](const char* key) {
            return settings_->written(key) ? &settings_->quantity(model, key) : nullptr;
        };
        // Bodies with a radius meet each other and themselves.
        const auto meets = [&](const auto& body) {
            return body.second.first >= range.first &&
                   body.second.first + body.second.count <= range.first + range.count &&
                   model.find_quantity(body.first + ".radius") != nullptr;
        };
        for (const auto& a : model.bodies_with_points())
            for (const auto& b : model.bodies_with_points())
                if (meets(a) && meets(b))
                    model.contact_pairs().keep_apart(a.first, b.first, "impact");
        impact::meet_each_other(
            model, {range, given("restitution"), given("friction"), given("rest_speed")});
    }

private:
    void warn_of(const Overlaps& overlaps, model::Model& model) const {
        model.warnings().add(
            {.identifier = "overlapping_balls",
             .happened = fmt::format(
                 "{} and {} overlap at the start: their centers are {:.3g} m apart, their radii "
                 "together are {:.3g} m{}",
                 particles::point_name(model, overlaps.first),
                 particles::point_name(model, overlaps.second), overlaps.distance, overlaps.reach,
                 overlaps.count > 1 ? fmt::format("; {} pairs overlap", overlaps.count) : ""),
             .remedy = "move them apart: balls meet where they touch, and these pass through each "
                       "other until they have parted",
             .pointer = settings_->node().pointer(),
             .numbers = {{"pairs", static_cast<double>(overlaps.count)},
                         {"distance", overlaps.distance},
                         {"reach", overlaps.reach}}});
    }

    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_particle_contact(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::colliders,
         "particle_contact",
         "Balls that meet each other",
         "Particles that have a radius meet each other as balls that do not spin, at the time in "
         "the step where they touch. With the velocity r of one relative to the other and the line "
         "n of their centers: r_n <- -restitution r_n, |r_t| reduced by at most friction (1 + "
         "restitution) |r_n|, shared in the ratio of their inverse masses, so that momentum is "
         "kept. "
         "All pairs of at most 1000 points are looked at; more than 8 impacts of a point in one "
         "step "
         "are an error, and so are piles that rest on each other.",
         {particles::of_field().optional().doc(
              "the body; without it, all particles of the scene that have a radius"),
          number("restitution")
              .fallback("0")
              .at_least(0)
              .at_most(1)
              .differentiable()
              .doc("the part of the normal speed that is given back"),
          number("friction")
              .fallback("0")
              .at_least(0)
              .differentiable()
              .doc("Coulomb's coefficient"),
          number("rest_speed")
              .unit("m/s")
              .fallback("0")
              .at_least(0)
              .doc("two that approach each other more slowly do not rebound")},
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<ParticleContact>(std::move(s));
         }});
}

}  // namespace hindcast
