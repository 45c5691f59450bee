// The residuals of a simulation as a function of its parameters, with their exact Jacobian.
//
// Residuals are those that objectives describe (engine/model/residuals.hpp), block by block. The
// Jacobian is made column by column in forward mode, on the device's threads at once where that is
// worth it, or row by row in reverse mode where there are fewer residuals than parameters. Its bits do
// not depend on the number of threads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/residuals.hpp"
#include "engine/optim/dense_matrix.hpp"
#include "engine/optim/least_squares.hpp"
#include "engine/sim/ensembles/copies.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

class ResidualFunction {
public:
    // The simulation must outlive it. Throws Error if the scene has no parameters or no residuals, or
    // an objective that has none.
    explicit ResidualFunction(Simulation& simulation);

    // Those whose weight is not 0.
    const std::vector<const model::ResidualBlock*>& blocks() const { return blocks_; }
    std::size_t size() const { return size_; }  // residuals
    std::vector<optim::ResidualGroup> groups() const;

    // Asked at each step of a run, on any thread: once it says true, residuals() and jacobian() throw
    // an Error.
    void end_when(std::function<bool()> asked) { ends_ = std::move(asked); }

    // At these values of all parameters; nothing if the run diverges. The simulation keeps the values.
    std::vector<double> residuals(std::span<const double> values);
    // Throws Error if the run diverges, or a derivative is not below `largest`.
    optim::DenseMatrix jacobian(std::span<const double> values);

    // Sums of squares of weighted residuals and derivatives below this bound are finite.
    static constexpr double largest = 1e150;
    // Throws Error for the first of these residuals that is not below the bound; it names the channel,
    // the time and the measured value.
    void require_finite(const std::vector<double>& residuals) const;

private:
    static std::vector<const model::ResidualBlock*> blocks_of(Simulation& simulation);
    void column(Simulation& simulation, std::size_t k, std::span<double> into) const;
    Rollout::Watch watch() const;
    void check_end() const;
    struct Sample {
        const model::ResidualBlock& block;
        std::size_t channel = 0, at = 0;  // of the block
    };
    Sample sample(std::size_t residual) const;
    Error too_large(std::size_t residual, double value) const;
    // "'camera: height' at 0.2 s", for messages.
    std::string describe(std::size_t residual) const;
    void require_finite(const optim::DenseMatrix& jacobian) const;
    void by_columns(optim::DenseMatrix& jacobian);
    void by_rows(optim::DenseMatrix& jacobian);

    Simulation& simulation_;
    std::vector<const model::ResidualBlock*> blocks_;
    std::size_t size_ = 0;
    std::unique_ptr<Copies> copies_;
    bool copies_tried_ = false;
    std::function<bool()> ends_;
};

}  // namespace hindcast
