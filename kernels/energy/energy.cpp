// value = mean over the times of  sum 1/2 m_i |v_i|^2          "kinetic"
//                               - sum m_i g.x_i                "gravitational"; zero at the origin
//                               + sum 1/2 k (L - r)^2          of the "springs" named
//                               + sum V W(F)                   of the "solids" named
// in joule. Symplectic Euler does not conserve it exactly: it oscillates about a constant with an
// amplitude that is proportional to the step.
#include "kernels/energy/energy.hpp"

#include "engine/document/read.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/solids/solids.hpp"
#include "kernels/springs/springs.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Settings;

template <int D>
KernelDef point_energy(bool kinetic, bool gravitational) {
    using V = Vec<Float, D>;
    return kernel(
        "point_energy", {"x", "v", "mass", "gravity", "first", "scale", "value"},
        [kinetic, gravitational](Int i, Read<V> x, Read<V> v, Read<Float> mass, Property<V> gravity,
                                 Param<Int> first, Param<Float> scale, Reduce<Float> value) {
            const Int j = i + first.value();
            Float energy;
            if (kinetic) energy += 0.5 * dot(v[j], v[j]);
            if (gravitational) energy -= dot(gravity[0], x[j]);
            value += mass[j] * energy * scale.value();
        });
}

class Energy final : public model::Instance {
public:
    explicit Energy(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

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
            program.add(model.launch(
                particles::for_dimension(model,
                                         [&](auto dimension) {
                                             return point_energy<dimension>(kinetic, gravitational);
                                         }),
                range.count,
                {model.array("position"), model.array("velocity"), model.array("mass"),
                 model.find_quantity("gravity")->argument(), range.first, scale, term.value},
                settings_->name() + ": energy"));
        for (std::size_t k = 0; k < springs.size(); ++k)
            springs::add_elastic_energy(model, springs.item(k), scale, term.value, program);
        for (std::size_t k = 0; k < solids.size(); ++k)
            solids::add_elastic_energy(model, solids.item(k), scale, term.value, program);
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
         [](std::shared_ptr<Settings> s) { return std::make_unique<Energy>(std::move(s)); }});
}

}  // namespace hindcast
