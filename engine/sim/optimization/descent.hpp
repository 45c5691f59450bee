// Descent: optimization by a rule with a formula (optim::GradientRule) where the simulation runs.
// The point, its gradient, the optimizer's memory and the update are vectors on the device; the
// host reads numbers.
//
//     Descent descent(simulation, rule);
//     descent.start_at(values);
//     for (...) {
//         descent.evaluate();                       // roll-out, adjoints, sums over the gradient
//         const Descent::Look here = descent.look();   // waits
//         descent.update();                         // the next point
//     }
//
// On a CUDA device an iteration is the graphs of the roll-out, of which that of the adjoints also
// looks at the gradient, and one of the update; look() is one small copy. The bits are those of
// UpdateRule::step with values and gradients on the host.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/optim/gradient_rule.hpp"
#include "engine/sim/functions/parameter_vector.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

class Descent {
public:
    // Both outlive it. With more than `most_read` parameters look() reads no values and gradients.
    Descent(Simulation& simulation, optim::GradientRule& rule, std::size_t most_read);
    ~Descent();
    Descent(const Descent&) = delete;
    Descent& operator=(const Descent&) = delete;

    void start_at(std::span<const double> values);
    void evaluate();
    struct Look {
        double loss = 0, gradient_norm = 0;
        bool finite = false;  // the loss and every entry of the gradient
        std::vector<Simulation::TermValue> terms;
        std::vector<double> values, gradient;  // unless there are too many
    };
    Look look();
    void update();

    // Read now: of this point, and the values of the one before the last update.
    std::vector<double> values() const { return rule_.values().to_doubles(); }
    std::vector<double> gradient() const { return rule_.gradient().to_doubles(); }
    std::vector<double> values_before() const { return before_.to_doubles(); }
    // Notes this point; and what was noted last.
    void keep();
    std::vector<double> kept_values() const { return kept_values_.to_doubles(); }
    std::vector<double> kept_gradient() const { return kept_gradient_.to_doubles(); }

private:
    bool reads_vectors() const;
    void make_report();
    Look read_report();

    Simulation& simulation_;
    optim::GradientRule& rule_;
    std::size_t most_read_;
    ParameterVector vector_;
    Sequence after_, update_;
    // On a CUDA device what look() reads, as one vector: the terms, the squares, flags of arrays
    // that are not finite, and values and gradient.
    Array report_;
    Array before_, kept_values_, kept_gradient_;
    std::optional<double> loss_;  // of this point, once it was read
};

}  // namespace hindcast
