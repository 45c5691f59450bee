// All particles of a body, or of the scene, as balls that meet each other (pairs.cpp).
#include "engine/document/read.hpp"
#include "kernels/colliders/colliders.hpp"
#include "kernels/colliders/impacts.hpp"

namespace hindcast {

namespace {

using model::Settings;

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
        const auto given = [&](const char* key) {
            return settings_->written(key) ? &settings_->quantity(model, key) : nullptr;
        };
        // Those with a radius meet each other and themselves.
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
         "n of their centres: r_n <- -restitution r_n, |r_t| reduced by at most friction (1 + "
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
