#include "engine/sim/runs/batch_gradients.hpp"

#include <algorithm>

namespace hindcast::runs {

Ensemble& BatchGradients::ensemble_of(const std::shared_ptr<SceneRuns::Made>& made) {
    const auto found = std::ranges::find(evaluated_, made, &Evaluated::made);
    if (found != evaluated_.end()) {
        evaluated_.splice(evaluated_.begin(), evaluated_, found);
    } else {
        EnsembleOptions options;
        options.members = values_.members();
        options.go_on = [this] { return runs_.goes_on(); };
        evaluated_.push_front({made, std::make_unique<Ensemble>(*made->simulation, options)});
        if (evaluated_.size() > most_ensembles) evaluated_.pop_back();
    }
    return *evaluated_.front().ensemble;
}

SceneBatch::Gradients BatchGradients::of(const std::vector<std::string>& paths) {
    runs_.require_objective();
    if (paths.empty()) {
        ArgumentFault fault("paths: no path is given");
        fault.remedy("name what is to be differentiated");
        throw fault;
    }
    SceneRuns::Set& set = runs_.set_of(values_.with_varied(paths));
    // Positions of the leaves' numbers in the simulation's parameters, and their values.
    Simulation& simulation = *set.made->simulation;
    std::vector<double> base;
    std::vector<std::size_t> at;
    for (const SceneRuns::Leaf& leaf : set.leaves)
        for (const std::size_t e : leaf.entries) {
            base.push_back(leaf.quantity->values[e]);
            std::size_t first = 0;
            for (const Parameter& p : simulation.parameters().list()) {
                const auto found = std::ranges::find(p.entries, e);
                if (p.quantity == leaf.quantity && found != p.entries.end())
                    at.push_back(first + static_cast<std::size_t>(found - p.entries.begin()));
                first += p.entries.size();
            }
        }
    if (at.size() != set.size) throw Error("internal: a parameter of the batch is not found");
    std::vector<std::vector<double>> points, gradients;
    for (std::size_t m = 0; m < values_.members(); ++m)
        points.push_back(values_.point_of(set, base, m));
    SceneBatch::Gradients result;
    // Long runs go one after the other on all threads, and are asked whether they go on.
    while (result.losses.size() < values_.members() &&
           runs_.is_long(set.made->forward[static_cast<int>(RolloutMode::first)])) {
        struct Back {
            SceneRuns& runs;
            SceneRuns::Set& set;
            const std::vector<double>& base;
            ~Back() { runs.assign(set, base); }
        } const back{runs_, set, base};
        runs_.assign(set, points[result.losses.size()]);
        result.losses.push_back(runs_.forward(set, true));
        gradients.push_back(runs_.gradient(set));
    }
    if (result.losses.size() < values_.members()) {
        const std::size_t first = result.losses.size();
        std::vector<std::vector<double>> rest;
        for (std::size_t m = first; m < values_.members(); ++m) {
            std::vector<double> point = simulation.parameters().values();
            for (std::size_t k = 0; k < at.size(); ++k) point[at[k]] = points[m][k];
            rest.push_back(std::move(point));
        }
        const auto found = ensemble_of(set.made).evaluate(rest, true);
        if (found.size() < rest.size()) throw Interrupted();
        for (const Ensemble::Result& one : found) {
            result.losses.push_back(one.loss);
            std::vector<double> gradient(set.size, nan);
            if (!one.gradient.empty())
                for (std::size_t k = 0; k < at.size(); ++k) gradient[k] = one.gradient[at[k]];
            gradients.push_back(std::move(gradient));
        }
    }
    std::size_t begin = 0;
    for (std::size_t l = 0; l < paths.size(); ++l) {
        const std::size_t n = set.leaves[l].entries.size();
        std::vector<double> all;
        for (const std::vector<double>& gradient : gradients)
            all.insert(all.end(), gradient.begin() + static_cast<std::ptrdiff_t>(begin),
                       gradient.begin() + static_cast<std::ptrdiff_t>(begin + n));
        result.by_path.push_back(std::move(all));
        result.shapes.push_back(set.leaves[l].shape);
        begin += n;
    }
    return result;
}

}  // namespace hindcast::runs
