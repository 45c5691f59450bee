// Identification: the parameters of a scene from what was measured.
//
//     Identification identification(simulation);
//     identification.check()        what the data can tell, at the values as they are
//     identification.fit(starts)    the least sum of squares, by exact Jacobians
//     validate(...)                 how another recording agrees with the values that were found
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/optim/fit_statistics.hpp"
#include "engine/optim/least_squares.hpp"
#include "engine/sim/identification/residual_function.hpp"

namespace hindcast {

// The agreement of one channel of one objective.
struct ChannelAgreement {
    std::string owner, channel;
    std::size_t count = 0;
    double rms = 0;         // of the differences, in the scene's units
    double rms_sigmas = 0;  // of the residuals
};

// Measured and simulated values at each sample, for plots and tables.
struct Comparison {
    std::string owner, channel;
    std::vector<double> times, measured, simulated;  // s; the scene's units
    std::vector<double> residuals;                   // in sigmas
};

class Identification {
public:
    using Point = std::vector<double>;

    explicit Identification(Simulation& simulation)
        : simulation_(simulation), function_(simulation) {}

    ResidualFunction& function() { return function_; }
    Simulation& simulation() { return simulation_; }

    struct Check {
        optim::Identifiability found;
        std::vector<std::string> findings;  // in words; none: the data tell all parameters
    };
    Check check();

    // The values as they are, and count - 1 random points: uniform between the bounds of each parameter
    // (in the logarithm where that is its scale). Those that belong to one recording stay as they are.
    // Throws Error for another one without two finite bounds, unless count is 1.
    std::vector<Point> starts(std::size_t count, std::uint64_t seed);
    // Per parameter: true if it belongs to one recording (Residuals::of_one_recording).
    std::vector<bool> auxiliary();

    struct Fit {
        Point start;
        std::string failure;  // why it ended with an error; "" if it did not
        optim::LeastSquaresResult result;
    };
    struct Options {
        std::int64_t iterations = 100;
        // Told of each iteration of each start; false ends all.
        std::function<bool(std::size_t start, std::int64_t iteration, double cost)> watch = {};
    };
    // From each of the starts, one after the other.
    std::vector<Fit> fit(const std::vector<Point>& starts, const Options& options);
    // The fit of least cost, the first of equals. Throws Error if all have failed.
    static std::size_t best(const std::vector<Fit>& fits);
    // The number of fits whose cost is that of the best one within a millionth.
    static std::size_t agreeing(const std::vector<Fit>& fits);

    optim::FitStatistics statistics(const optim::LeastSquaresResult& result) const;

    // From residuals that were computed with the parameters as they are now.
    std::vector<ChannelAgreement> agreement(const std::vector<double>& residuals) const;
    std::vector<Comparison> comparison(const std::vector<double>& residuals) const;

private:
    Simulation& simulation_;
    ResidualFunction function_;
};

// The scene with another file of data wherever an object of it names `from` ("" stands for the only
// one that is named). `to` may lie anywhere: allow its folder (SimulationOptions::allowed_paths).
// Throws Error if nothing names it, or "" stands for several.
Scene with_other_data(const Scene& scene, const std::string& from, const std::filesystem::path& to);

// Sets the parameters of one simulation in another one of the same scene with other data, except those
// that belong to one recording, whose paths are returned. Throws Error if it has not the others.
std::vector<std::string> take_identified(const Simulation& from, Simulation& to);

}  // namespace hindcast
