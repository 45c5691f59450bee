// Simulation: a scene made ready to run, and the derivatives of its objective. Knows no physics
// module by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/hash.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "engine/sim/parameters.hpp"
#include "engine/sim/scene/scene.hpp"

namespace hindcast {

inline const char* name_of(ir::Precision precision) {
    return ir::name_of(ir::real_type(precision));
}

class RunMonitor;  // sim/run_monitor.hpp

struct SimulationOptions {
    std::shared_ptr<Device> device;
    ir::Precision precision = ir::Precision::f32;
    std::uint64_t seed = 0;   // mixed into every seed of the scene; 0 changes nothing
    std::int64_t steps = -1;  // instead of the scene's; -1: as written
    std::vector<std::filesystem::path>
        allowed_paths;  // folders besides the scene's that files may lie in
    std::optional<std::int64_t> gradient_memory = {};  // bytes, instead of the scene's
    std::filesystem::path spill = {};  // checkpoints go to a file in this folder; empty: to memory
    bool strict = false;               // a warning is an Error
    // Told of each warning when it is found, on the thread that builds or runs. Not copied.
    std::function<void(const Warning&)> on_warning = {};
};

class Simulation {
public:
    // Throws Error; then nothing is kept.
    Simulation(const Scene& scene, const Registry& registry, const SimulationOptions& options);
    ~Simulation();
    // The same scene once more, with every quantity's values as they stand here. The registry must
    // be there still.
    std::unique_ptr<Simulation> copy(const SimulationOptions& options) const;
    // Sets every quantity to its values in another simulation of this scene.
    void take_quantities(const Simulation& other);
    // Sets the state and the terms' values to those of another simulation of this scene.
    void take_results(const Simulation& other);

    const Scene& scene() const { return scene_; }
    const SimulationOptions& options() const { return options_; }
    model::Model& model() { return *model_; }
    const model::Model& model() const { return *model_; }
    Rollout& rollout() { return *rollout_; }
    Parameters& parameters() { return *parameters_; }
    const Parameters& parameters() const { return *parameters_; }
    std::int64_t steps() const { return model_->options().steps; }  // substeps in all
    // Found when the scene was built and in the runs so far (engine/model/warnings/warning.hpp).
    const std::vector<Warning>& warnings() const { return model_->warnings().list(); }
    // The last run() ended, or was looked at, in a state that physics does not explain: the warning
    // "runaway", of that run alone and whether or not the scene accepts it.
    bool left_physics() const;

    // The plan by which gradients are computed within their memory (gradient_settings.hpp), made
    // now; a few steps are run and measured for it first. Throws Error if nothing fits.
    const CheckpointPlan& plan_gradients(RolloutMode mode = RolloutMode::first);

    // Every so many substeps and after the last one a run looks at the state arrays; if one holds a
    // number that is not finite the run has diverged: it stops there, and its loss is NaN. A checked
    // device looks after every substep.
    static constexpr std::int64_t divergence_interval = 64;

    // Runs all steps from the start and returns the loss: the sum of weight * value over the terms.
    // `keep` stores what gradient() needs.
    double run(bool keep = false, const Rollout::Watch& watch = {});
    // The derivative of the loss with respect to the parameters, after run(true).
    std::vector<double> gradient();
    // The same without reading it: it stands in the gradients of the quantities' arrays.
    void backward();
    // The value and the directional derivative along `direction`, by forward mode.
    double directional_derivative(std::span<const double> direction);
    // Hessian times direction, by forward over reverse mode.
    std::vector<double> hessian_product(std::span<const double> direction);

    struct TermValue {
        std::string name;
        double weight = 1, value = 0;
    };
    std::vector<TermValue> terms() const;  // of the last run
    double loss() const;
    static double loss_of(const std::vector<TermValue>& terms);
    StateHash state_hash() const;  // of the state arrays as they stand
    // The scene with the parameters as they stand. Values of more than 1000 numbers are written to
    // `folder`.
    document::Document scene_with_parameters(const std::filesystem::path& folder) const;

private:
    void find_what_varies();

    Scene scene_;
    const Registry& registry_;
    SimulationOptions options_;
    std::vector<std::unique_ptr<model::Instance>> instances_;
    std::unique_ptr<model::Model> model_;
    std::unique_ptr<Parameters> parameters_;
    std::unique_ptr<Rollout> rollout_;
    std::unique_ptr<RunMonitor> monitor_;
};

// Elementary functions for formulas and random numbers: the project's own, the same bits
// everywhere.
document::ElementaryTable own_elementary_functions();

}  // namespace hindcast
