#include "kernels/articulated/coupled/coupled_step.hpp"

#include <numeric>
#include <utility>

#include "engine/model/implicit/minimized.hpp"
#include "kernels/articulated/coupled/coupled.hpp"
#include "kernels/articulated/dynamics/step.hpp"

namespace hindcast::articulated {

namespace {

// True if a body moves freely and nothing moves on it: its bias force is taken implicitly.
bool has_single_body(const Tree& t) {
    for (int b = 1; b < static_cast<int>(t.bodies.size()); ++b)
        if (t.is_single(b)) return true;
    return false;
}

}  // namespace

CoupledStep::CoupledStep(TreePointer tree, PlanPointer plan, Launcher launch)
    : tree_(std::move(tree)), plan_(std::move(plan)), launch_(std::move(launch)) {}

void CoupledStep::couple(model::Model& model, const std::string& name, std::int64_t first,
                         const std::map<std::string, Argument>& arguments) {
    const Tree& t = *tree_;
    const auto make = [&](const char* key, std::int64_t rows, int columns) {
        arrays_[key] = Array(model.real(), {rows, columns});
    };
    std::vector<std::int64_t> bodies;
    for (int b = 1; b < static_cast<int>(t.bodies.size()); ++b) bodies.push_back(b);
    for (const Site& site : t.sites) bodies.push_back(site.body);
    make("y", t.nv, 1);
    make("place", static_cast<std::int64_t>(bodies.size()), 3);
    model.prologue().add(launch_(places_in_bodies(tree_), "places of points in bodies",
                                 {{"place", arrays_.at("place")}}, 1));
    const bool single = has_single_body(t);
    if (single)
        for (const char* key : {"smooth", "solved", "free_force"}) make(key, t.nv, 1);

    std::vector<NamedArgument> list{{"h", model.step()}};
    for (const auto& [key, argument] : arguments)
        list.emplace_back(key,
                          single && key == "force" ? Argument(arrays_.at("free_force")) : argument);
    std::vector<std::int64_t> numbers(bodies.size());
    std::iota(numbers.begin(), numbers.end(), first);
    model.minimized().add(Carrier{.name = name,
                                  .coordinates = arrays_.at("y"),
                                  .bodies = static_cast<std::int64_t>(t.bodies.size()),
                                  .kernels = coupled_kernels(tree_, plan_->sizes(t.nv)),
                                  .arguments = std::move(list),
                                  .points = std::move(numbers),
                                  .point_bodies = std::move(bodies),
                                  .places = arrays_.at("place")});
}

std::vector<Launch> CoupledStep::begin() const {
    std::vector<Launch> all;
    if (arrays_.contains("solved")) {
        // The accelerations of a robot without energies, where no row holds a body; then the force
        // that leads to them in the minimization.
        const HoldingRows rows = plan_->empty() ? HoldingRows{} : plan_->holding();
        const Array &smooth = arrays_.at("smooth"), &solved = arrays_.at("solved");
        all.push_back(
            launch_(smooth_acceleration(tree_), "smooth acceleration", {{"solved", smooth}}, 1));
        all.push_back(launch_(articulated::acceleration(tree_, Implicit::step_map, {}, &rows),
                              "acceleration without energies",
                              {{"qacc_constrained", smooth}, {"qacc", solved}}, 1));
        all.push_back(launch_(force_of_acceleration(tree_), "force without energies",
                              {{"solved", solved}, {"free_force", arrays_.at("free_force")}}, 1));
    }
    all.push_back(
        launch_(start_of_search(), "start of the search", {{"y", arrays_.at("y")}}, tree_->nv));
    return all;
}

Launch CoupledStep::acceleration() const {
    const KernelDef kernel =
        plan_->empty() ? acceleration_of_step() : constrained_acceleration_of_step();
    return launch_(kernel, "acceleration", {{"y", arrays_.at("y")}}, tree_->nv);
}

}  // namespace hindcast::articulated
