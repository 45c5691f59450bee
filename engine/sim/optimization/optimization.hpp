// Optimization of a simulation's parameters: the loop around run(), gradient() and an update rule.
//
// N iterations are N updates; the history has rows 0 .. N (row k: loss and gradient before update
// k+1). The optimizer works on its own variable: for a parameter with "scale": "log" that is
// log(value), and rates and clipping act there; bounds are kept by projection after the update.
// Gradients that are reported are those of the physical value. Best-so-far is kept. A loss or
// gradient that is not finite stops the run and says where it arose; it gets no row.
//
// The rules with a formula run on the simulation's device (descent.hpp), searches on the host.
//
// run() can be called again: it goes on after the last row that was reported, and a restored one
// does the same. The update rules, their keys in the scene and the stopping rules are those of
// engine/optim/settings.hpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/document/node.hpp"
#include "engine/sim/ensembles/ensemble.hpp"

namespace hindcast {

class Optimization {
public:
    struct Row {
        std::int64_t iteration = 0;
        double loss = 0;
        double gradient_norm = 0;  // Euclidean, of the physical gradient, in a Reduce's order
        std::vector<Simulation::TermValue> terms;
        // Physical, in the order of Parameters::names(). Empty beyond set_row_limit().
        std::vector<double> parameters, gradient;
        std::int64_t evaluations = 0;  // roll-outs so far, those of line searches included
    };
    // Called once per row; false stops after this row. It may call state().
    using Watch = std::function<bool(const Row&)>;

    enum class Stop {
        iterations,  // or as many evaluations as are allowed
        converged,
        stopped,  // by the watch or the interrupt
        not_finite,
        stuck  // a search failed: there is a slope, but no step down it
    };
    struct Outcome {
        Stop stop = Stop::iterations;
        std::string
            reason;  // in words: which rule, or which launch, element and value is not finite
        Row best;    // the row with the lowest loss
        Row last;    // both with parameters; after not_finite `last` may lack its gradient
    };

    // Reads the scene's "optimizer" (without one: lbfgs). `iterations` >= 0 replaces the scene's
    // number. Throws Error if the scene has no parameters or no objective.
    Optimization(Simulation& simulation, std::int64_t iterations = -1);
    ~Optimization();

    std::int64_t iterations() const;
    std::string describe() const;  // "gradient_descent, rate 0.5"
    bool uses_hessian() const;     // besides gradients
    // The point that run() goes on from, unless the simulation's parameters are changed: that of
    // the last row, or of the one that is to come.
    const std::vector<double>& values() const;

    // Afterward the simulation's parameters are those of the last row; if a value was not finite,
    // those that led to it. A parameter that was changed meanwhile (by hand) is taken as it stands.
    Outcome run(const Watch& watch = {});
    // Rows of more parameters than this are given to the watch without them, so that they stay on
    // the device; for rules with a formula, before the first run(). Default: no limit.
    void set_row_limit(std::size_t parameters);
    // In a watch: its row with parameters and gradient, however many there are.
    Row complete(Row row) const;
    // The row with the lowest loss so far, with parameters and gradient; none before the first row.
    std::optional<Row> best() const;
    // Asked before each roll-out: true ends run() as a false watch does. Searches make many
    // roll-outs for one row.
    void set_interrupt(std::function<bool()> interrupt);

    // Makes the roll-outs in the simulation's stead, with the same bits (multi_start.hpp), or none,
    // which stops run() as an interrupt does. A value that is not finite is then not explained.
    using Evaluator = std::function<std::optional<Ensemble::Result>(
        const std::vector<double>& values, bool gradient)>;
    void set_evaluator(Evaluator evaluator);

    // Everything that a run continues from, bit for bit: parameters, optimizer state, best,
    // iteration. As a JSON node whose numbers read back exactly; restore() throws Error if it does
    // not fit this scene.
    document::Node state() const;
    void restore(const document::Node& state);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hindcast
