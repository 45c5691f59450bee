// value = mean over the times of  sum 1/2 m_i |v_i|^2          "kinetic"
//                               - sum m_i g.x_i                "gravitational"; zero at the origin
//                               + sum 1/2 k (L - r)^2          of the "springs" named
//                               + sum V W(F)                   of the "solids" named
// in joule. Symplectic Euler does not conserve it exactly: it oscillates about a constant with an
// amplitude that is proportional to the step.
#include "kernels/energy/energy.hpp"

#include "engine/document/read.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using model::Model;
using model::Settings;

// Throws Error at the node if no object of that type has the name.
const model::Energy& energy_of(const Model& model, const std::string& type,
                               const document::Node& node) {
    const std::string name = document::string_of(node);
    for (const model::Energy& energy : model.energies())
        if (energy.type == type && energy.owner == name) return energy;
    const bool springs = type == "springs";
    throw document::fault(
        node,
        (springs ? "there are no springs called '" : "there is no solid called '") + name + "'")
        .remedy(springs ? "name an object of type springs in \"forces\""
                        : "name an object of type solid in \"bodies\"");
}

class EnergyTerm final : public model::Instance {
public:
    explicit EnergyTerm(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const bool kinetic = settings_->boolean("kinetic");
        const bool gravitational = settings_->boolean("gravitational");
        const document::Node& springs = *settings_->find("springs");
        const document::Node& solids = *settings_->find("solids");
        if (!kinetic && !gravitational && springs.size() == 0 && solids.size() == 0)
            throw settings_->error("type", "this energy has no part")
                .remedy("let one of kinetic, gravitational, springs and solids be there");
        const model::Range range = particles::body_or_all(*settings_, model);
        model::Term term = settings_->term(model);
        const double scale = 1.0 / static_cast<double>(term.times.size());
        Program program;
        if (kinetic || gravitational)
            program.add(particles::energy(model, range, {kinetic, gravitational}, scale, term.value,
                                          settings_->name() + ": energy"));
        for (std::size_t k = 0; k < springs.size(); ++k)
            energy_of(model, "springs", springs.item(k)).add(model, scale, term.value, program);
        for (std::size_t k = 0; k < solids.size(); ++k)
            energy_of(model, "solid", solids.item(k)).add(model, scale, term.value, program);
        model.add_term(std::move(term), program);
    }

private:
    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_energy(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::objective,
         "energy",
         "Mechanical energy in joule, mean over the times: sum 1/2 m |v|^2 - sum m g.x + "
         "sum 1/2 k (L - r)^2 + sum V W(F).",
         {particles::of_field().optional().doc("the body; without it, all points"),
          boolean("kinetic").fallback("true").doc("with sum 1/2 m |v|^2"),
          boolean("gravitational").fallback("true").doc("with -sum m g.x, zero at the origin"),
          list("springs")
              .fallback("[]")
              .doc("names of springs whose elastic energy 1/2 k (L - r)^2 counts")
              .schema(R"({"type":"string"})"),
          list("solids")
              .fallback("[]")
              .doc("names of solids whose elastic energy V W(F) counts")
              .schema(R"({"type":"string"})")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<EnergyTerm>(std::move(s)); }});
}

}  // namespace hindcast
