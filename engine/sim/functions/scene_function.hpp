// SceneFunction: a scene as a function of some of its values, with its derivatives, for libraries
// of automatic differentiation, which may ask in any order.
//
//     SceneFunction f(scene, registry, options, {"cage.rest_length"}, {"loss", "final:position"});
//     f({Kind::value, x})            y
//     f({Kind::jvp, x, t})           J t, by forward mode
//     f({Kind::vjp, x, c})           J^T c, by reverse mode
//     f({Kind::hvp, x, c, u})        the derivative of J^T c along u, by forward over reverse mode
//     f({Kind::jvp2, x, t, u})       the derivative of J t along u, by forward over forward mode
//
// x is one flat vector of f64: the numbers of each input in the order given, each in the shape that
// the scene writes it in (one number for a value that all elements share). y is one, too: the
// numbers of each output, which is one of
//     loss            the scene's objective, one number
//     final:NAME      a state array after the last step, such as final:position [points, 3]
//     state:NAME      a state array after each step and before the first, [steps + 1, points, 3]
// Calls may come from any thread, and run one after the other. A call throws Error for a number of x
// that the scene cannot have, such as a negative stiffness. If a run diverges, all numbers of the
// result are NaN. A value and a vjp at one x share their run forwards, in either order; the first
// time that a vjp follows a value it makes one of its own, since a value alone keeps nothing for
// the way back.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast {

class ManyCalls;

class SceneFunction {
public:
    // Throws Error for a path that names no value with a gradient, an output that is not there, or
    // one of them that is given twice.
    SceneFunction(const Scene& scene, const Registry& registry, const SimulationOptions& options,
                  const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs = {"loss"});
    ~SceneFunction();

    struct Value {
        std::string name;
        std::vector<std::int64_t> shape;   // empty: one number
        std::int64_t first = 0, size = 0;  // in x or y
    };
    const std::vector<Value>& inputs() const { return inputs_; }
    const std::vector<Value>& outputs() const { return outputs_; }
    std::size_t input_size() const { return values_.size(); }
    std::size_t output_size() const { return output_size_; }
    const std::vector<double>& scene_values() const { return values_; }  // as the scene has them

    enum class Kind : std::uint8_t { value, jvp, vjp, hvp, jvp2 };
    struct Call {
        Kind kind = Kind::value;
        std::vector<double> x;
        std::vector<double> a = {};  // t, c
        std::vector<double> b = {};  // u
    };
    std::vector<double> operator()(const Call& call);
    // Many calls of one kind at once (many_calls.hpp). Each result has the bits of its call alone.
    std::vector<std::vector<double>> operator()(std::span<const Call> calls);

    // The numbers that a call's operands and its result have.
    static bool gives_inputs(Kind kind) { return kind == Kind::vjp || kind == Kind::hvp; }
    std::size_t result_size(Kind kind) const {
        return gives_inputs(kind) ? input_size() : output_size();
    }
    std::int64_t runs() const { return runs_; }  // forwards, of single calls
    bool is_loss() const { return sources_.size() == 1 && sources_[0].time == Time::loss; }

    // x, a, b; without operands that the kind does not have.
    std::vector<std::size_t> operand_sizes(Kind kind) const;

    // The source of each output.
    enum class Time : std::uint8_t { loss, end, every_step };
    struct Source {
        Time time = Time::loss;
        std::string array = {};
    };
    const std::vector<Source>& sources() const { return sources_; }
    const SimulationOptions& options() const { return simulation_->options(); }
    const Scene& scene() const { return simulation_->scene(); }  // with the inputs as parameters
    // Its simulation once more, elsewhere, with these inputs as parameters.
    std::unique_ptr<Simulation> copy(const SimulationOptions& options);

private:
    void add_output(const std::string& name);
    void check(const Call& call) const;
    std::vector<double> run(Simulation& simulation, const Call& call) const;
    std::vector<double> run_alone(const Call& call);
    std::vector<double> forward(Simulation& simulation, const Call& call, bool keep) const;
    std::vector<double> backward(Simulation& simulation, const Call& call) const;

    std::mutex mutex_;
    std::unique_ptr<Simulation> simulation_;
    std::vector<Value> inputs_, outputs_;
    std::vector<Source> sources_;  // of the outputs
    bool has_samples_ = false;     // of each step
    std::size_t output_size_ = 0;
    std::vector<double> values_;
    // The last run of `simulation_` in the first mode.
    struct LastRun {
        std::vector<double> x, y;
        bool kept = false;  // for a backward run
        bool went_back = false;
    };
    std::optional<LastRun> last_;
    std::int64_t runs_ = 0;
    bool keeps_values_ = false;  // values are followed by a vjp at the same x
    std::unique_ptr<ManyCalls> many_;
};

}  // namespace hindcast
