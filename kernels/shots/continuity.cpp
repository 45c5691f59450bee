// Residuals: the jumps of a robot's state where one shot ends and the next begins, over sigma.
#include "engine/document/read.hpp"
#include "engine/model/residuals.hpp"
#include "kernels/shots/shots.hpp"

namespace hindcast::shots {

using namespace lang;
using model::Model;
using model::Quantity;
using model::Settings;

namespace {

// One item per jump of a degree of freedom: positions first, then velocities.
KernelDef continuity(std::int32_t jumps, std::int32_t dofs) {
    return kernel("shots_continuity", {"jumps", "sigma", "residual", "value"},
                  [jumps, dofs](Int i, Read<Float> all, Property<Float> sigma,
                                Write<Float> residual, Reduce<Float> value) {
                      const Float r = all[i] / sigma[i / jumps];
                      residual[i] = r;
                      value += 0.5 * r * r;
                  });
}

class Continuity final : public model::Instance {
public:
    explicit Continuity(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Settings& s = *settings_;
        if (s.node().find("at") != nullptr)
            throw s.error("at", "the shots say at which times they meet").remedy("remove this key");
        Shots& shots = find(model);
        const std::int64_t jumps = shots.jump_count();
        const int dofs = shots.tree->nv;
        const std::int64_t numbers = 2 * std::int64_t{dofs};  // positions and velocities
        if (jumps == 0)
            throw s.error("of", "there is one shot, which meets none")
                .remedy("remove this objective, or make more shots");
        const std::int64_t count = numbers * jumps;
        if (!shots.jumps) shots.jumps = Array(model.real(), {count, 1});
        const Array residual = model.add_array(
            s.name() + ".residual", count, 1,
            {.meaning =
                 "jump at each begin of a shot, degree of freedom by degree of freedom, first "
                 "of positions, then of velocities, in sigmas"});
        const Quantity& sigma = s.quantity(model, "sigma", numbers);
        model::Term term{
            .name = s.name(), .times = {model.options().steps}, .value = Array(ir::Type::f64, {1})};
        if (const document::Node* const weight = s.node().find("weight"))
            term.weight = document::number_of(*weight, document::Range::at_least(0));
        model::ResidualBlock block;
        block.owner = s.name();
        block.weight = term.weight;
        block.values = residual;
        block.sigma = &sigma;
        for (std::int64_t c = 0; c < numbers; ++c) {
            block.channels.push_back(
                {(c < dofs ? "position " : "velocity ") + std::to_string(c % dofs), c * jumps,
                 jumps});
            block.times.insert(block.times.end(), shots.times.begin() + 1, shots.times.end());
        }
        model.shared<model::Residuals>().blocks.push_back(std::move(block));
        Program program;
        program.add(model.launch(continuity(static_cast<std::int32_t>(jumps), dofs), count,
                                 {{"jumps", *shots.jumps},
                                  {"sigma", sigma.argument()},
                                  {"residual", residual},
                                  {"value", term.value}},
                                 s.name() + ": continuity"));
        model.add_term(std::move(term), program);
    }

private:
    Shots& find(Model& model) const {
        auto& all = model.shared<AllShots>().by_name;
        const document::Node& node = *settings_->find("of");
        if (const auto found = all.find(document::string_of(node)); found != all.end())
            return found->second;
        if (all.empty())
            throw document::fault(node, "the scene has no controller of type \"shots\"")
                .remedy("add one");
        std::vector<std::string_view> names;
        for (const auto& [name, shots] : all) names.push_back(name);
        document::choice_of(node, names, "shots");  // throws, with "did you mean"
        throw document::fault(node, "there are no shots of this name");
    }

    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_continuity(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::objective,
         "continuity",
         "Pieces of a run that meet",
         "Half the sum of squared jumps of a robot's state at the begins of shots but the first, "
         "over "
         "sigma: where it came to minus where it begins. Quaternions jump by rotation vectors.",
         {text("of")
              .schema(R"({"type":"string","means":"object","of":"shots"})")
              .doc("the name of a controller of type \"shots\""),
          values("sigma").fallback("1").positive().doc(
              "of each degree of freedom's position, then of each one's velocity: small ones make "
              "one trajectory of the shots")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<Continuity>(std::move(s)); }});
}

}  // namespace hindcast::shots
