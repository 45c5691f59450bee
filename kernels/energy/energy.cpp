// value = mean over the times of  sum 1/2 m_i |v_i|^2          "kinetic"
//                               - sum m_i g.x_i                "gravitational"; zero at the origin
//                               + sum 1/2 k (L - r)^2          of the "springs" named
//                               + sum V W(F)                   of the "solids" named
//                               + what the "objects" named publish (Model::publish_energy)
// in joule. Symplectic Euler does not conserve it exactly: it oscillates about a constant with an
// amplitude that is proportional to the step.
#include "kernels/energy/energy.hpp"

#include <algorithm>
#include <vector>

#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using model::Model;
using model::Settings;

// The energies that count, each once. Errors are at the node that names one.
class Stored {
public:
    explicit Stored(const Model& model) : model_(model) {}

    // Those of the objects that the list names; type "": whatever their type is.
    void add(const document::Node& names, const std::string& type) {
        for (std::size_t k = 0; k < names.size(); ++k) add_one(names.item(k), type);
    }
    const std::vector<const model::Energy*>& list() const { return list_; }

private:
    void add_one(const document::Node& node, const std::string& type) {
        const std::string name = document::string_of(node);
        bool found = false;
        for (const model::Energy& energy : model_.energies()) {
            if (energy.owner.empty() || energy.owner != name) continue;
            if (!type.empty() && energy.type != type) continue;
            found = true;
            if (std::find(list_.begin(), list_.end(), &energy) != list_.end())
                throw document::fault(node, "the energy of '" + name + "' counts already")
                    .remedy("name it once");
            list_.push_back(&energy);
        }
        if (found) return;
        if (type == "springs")
            throw document::fault(node, "there are no springs called '" + name + "'")
                .remedy("name an object of type springs in \"forces\"");
        if (type == "solid")
            throw document::fault(node, "there is no solid called '" + name + "'")
                .remedy("name an object of type solid in \"bodies\"");
        std::string known;
        for (const model::Energy& energy : model_.energies())
            if (!energy.owner.empty()) known += (known.empty() ? "" : ", ") + energy.owner;
        throw document::fault(node, "no object called '" + name + "' has an energy of its own")
            .remedy(known.empty() ? "no object of this scene has" : "name one of " + known);
    }

    const Model& model_;
    std::vector<const model::Energy*> list_;
};

void build_energy(const Settings& settings, Model& model) {
    const bool kinetic = settings.boolean("kinetic");
    const bool gravitational = settings.boolean("gravitational");
    Stored stored(model);
    stored.add(*settings.find("springs"), "springs");
    stored.add(*settings.find("solids"), "solid");
    stored.add(*settings.find("objects"), "");
    if (!kinetic && !gravitational && stored.list().empty())
        throw settings.error("type", "this energy has no part")
            .remedy("let one of kinetic, gravitational, springs, solids and objects be there");
    const model::Range range = particles::body_or_all(settings, model);
    add_mean(settings, model, [&](double scale, const Array& value) {
        Program program;
        if (kinetic || gravitational)
            program.add(particles::energy(model, range, {kinetic, gravitational}, scale, value,
                                          settings.name() + ": energy"));
        for (const model::Energy* energy : stored.list()) energy->add(model, scale, value, program);
        return program;
    });
}

}  // namespace

void register_energy(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::objective,
         "energy",
         "Energy",
         "Mechanical energy in joule, mean over the times: sum 1/2 m |v|^2 - sum m g.x + "
         "sum 1/2 k (L - r)^2 + sum V W(F) + that of other objects.",
         {particles::of_field().optional().doc("the body; without it, all points"),
          boolean("kinetic").fallback("true").doc("with sum 1/2 m |v|^2"),
          boolean("gravitational").fallback("true").doc("with -sum m g.x, zero at the origin"),
          list("springs")
              .fallback("[]")
              .doc("names of springs whose elastic energy 1/2 k (L - r)^2 counts")
              .schema(R"({"type":"string","means":"object","of":"springs"})"),
          list("solids")
              .fallback("[]")
              .doc("names of solids whose elastic energy V W(F) counts")
              .schema(R"({"type":"string","means":"object","of":"solid"})"),
          list("objects")
              .fallback("[]")
              .doc("names of objects of any type whose own energy counts: the elastic energy of "
                   "springs, solids and material points, all energy of waves")
              .schema(R"({"type":"string","means":"object"})")},
         built_by(build_energy)});
}

}  // namespace hindcast
