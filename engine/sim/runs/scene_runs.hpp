// A scene as scripts use it: values are read and set by path, and whatever paths are named can be
// differentiated. One thread at a time.
//
//     SceneRuns runs(Scene::load("scenes/spring_cage.json"), registry, options);
//     SceneRuns::Set& set = runs.set_of({"cage.rest_length"});
//     const double loss = runs.forward(set, true);
//     const std::vector<double> g = runs.gradient(set);   // in the order of the paths
//
// The values stand in a simulation of the scene with the parameters that it names. For every other
// list of paths a simulation is made with those as its parameters; it takes the values that stand
// when it is asked for. The newest ones are kept.
//
// Runs that are expected to take longer than `patience` ask go_on() between steps, forwards and
// backwards; shorter ones do not, so that they may run as one compiled function.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/sim/gradients/gradient_check.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "engine/sim/runs/interrupted.hpp"
#include "engine/sim/runs/scene_values.hpp"

namespace hindcast::runs {

// States of one run, as its steps left them: every whole step from the start on.
class Frames {
public:
    struct Kept {
        std::string name;
        Array array;
        std::size_t frame_bytes = 0;
        std::unique_ptr<std::byte[]> bytes;
    };
    // Throws ArgumentFault for a name that the model has not, Error where memory is too small.
    Frames(model::Model& model, const std::vector<std::string>& names, std::int64_t most);
    void add();
    std::int64_t count() const { return count_; }
    // Null: not kept.
    const Kept* find(const std::string& name) const;
    std::vector<std::string> names() const;
    // A frame as the model has the array: of its elements and, if there are several, components.
    static Shape shape_of(const Array& array);
    static Shape strides_of(const Array& array);  // in scalars

private:
    std::vector<Kept> kept_;
    std::int64_t count_ = 0;
};

class SceneRuns final : public SceneValues {
public:
    using SceneValues::SceneValues;

    std::function<bool()> go_on;  // false: the run ends, and Interrupted is thrown
    double patience = 0.5;        // seconds
    bool is_long(double seconds) const { return seconds < 0 || seconds > patience; }
    bool goes_on();  // asks go_on(), not too often

    // ---- runs ----
    struct Set {
        std::vector<std::string> paths;
        std::shared_ptr<Made> made;
        std::vector<Leaf> leaves;  // in the order of the paths
        std::size_t size = 0;      // numbers in all
    };
    // With the values as they stand. Throws ArgumentFault. Valid until the next call.
    Set& set_of(const std::vector<std::string>& paths);
    // Other values of the leaves, one after the other, until the set is asked for again; for good
    // if its paths are the scene's own parameters.
    void assign(Set& set, std::span<const double> values);

    // The loss: NaN if the run diverged. `keep` for the calls below; `frames` takes the states.
    double run(Frames* frames = nullptr);
    double forward(Set& set, bool keep, Frames* frames = nullptr);
    // After forward(set, true): one number for each of the leaves' entries. NaN if the loss is not
    // finite.
    std::vector<double> gradient(Set& set);
    std::vector<double> hessian_product(Set& set, std::span<const double> direction);
    struct Directional {
        double loss = 0, derivative = 0;
    };
    Directional directional_derivative(Set& set, std::span<const double> direction);

    struct Optimized {
        double loss = 0;  // of the best row
        std::vector<double> losses, gradient_norms;
        std::string stopped, reason;
        std::int64_t evaluations = 0;
    };
    // With the scene's optimizer and parameters. Afterward the values are the best ones, and they
    // have been run.
    std::int64_t iterations() const;  // that the scene's optimizer makes
    Optimized optimize(std::int64_t iterations,
                       const std::function<bool(const Optimization::Row&)>& watch);

    GradientReport check(const std::vector<std::string>& paths, GradientCheckOptions wanted);
    void require_objective() const;  // throws Error if there is none
    // ---- the last run ----
    // Null: there was none since the scene was made or changed, or it did not end.
    Simulation* last() const { return last_ ? last_->simulation.get() : nullptr; }
    // Warnings of the last run's simulation, or of the scene's own.
    const std::vector<Warning>& warnings() const {
        return (last_ ? last_ : base_)->simulation->warnings();
    }

private:
    static constexpr std::size_t most_sets = 8;

    void forget_runs() override;
    bool is_base(const Set& set) const;
    double forward(Made& made, bool keep, RolloutMode mode, Frames* frames);
    void backward(Made& made, RolloutMode mode);
    void set_tangents(Set& set, std::span<const double> direction);
    std::vector<double> gather(const Set& set, bool tangents) const;

    std::list<Set> sets_;  // the newest first
    std::shared_ptr<Made> last_;
    std::chrono::steady_clock::time_point asked_{};
};

}  // namespace hindcast::runs
