// Ensemble: one scene at many values of its parameters. Every member has bit for bit the loss, the
// gradient and the final state of a run of the simulation alone at those values.
//
//     Ensemble ensemble(simulation, {.members = 64});
//     const auto results = ensemble.evaluate(points, true);   // any number of points
//
// There are three ways to run the members:
//  - side by side in SIMD lanes, groups of them on the device's threads, as one compiled program
//    (backend/cpu/program/batch.hpp): the innermost axis, for small scenes without sums in fixed point;
//  - each on one thread, as many at once as the device has, through copies of the simulation
//    (copies.hpp): the outermost axis, for everything else;
//  - one after the other through the simulation, each on all threads.
// `automatic` begins with the last one, makes what another one takes once that has taken a quarter
// of a second, and keeps what is fastest. Members in lanes whose run faults or diverges run alone.
// On several CUDA devices each runs some of the members.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/sim/ensembles/copies.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

namespace backend {
class Batch;
}

enum class EnsembleUse : std::uint8_t { automatic, lanes, threads, one_by_one };

struct EnsembleOptions {
    std::size_t members = 64;  // at once; memory is for so many
    EnsembleUse use = EnsembleUse::automatic;
    // Asked before each run of one member, or of a batch, on any thread but one at a time: false
    // ends evaluate() early.
    std::function<bool()> go_on = {};
    // Simulations of the same scene on other devices, which outlive the ensemble: each takes the
    // next member as soon as it is free, on a thread of its own. With a look the first device alone
    // runs them.
    std::vector<Simulation*> others = {};
};

class Ensemble {
public:
    // The simulation must outlive the ensemble, and be left alone while evaluate() runs.
    explicit Ensemble(Simulation& simulation, const EnsembleOptions& options = {});
    ~Ensemble();

    struct Result {
        double loss = 0;  // NaN if the run diverged
        std::vector<Simulation::TermValue> terms;
        std::vector<double> gradient;  // if asked for, and the loss is finite
    };
    // Called for each point in order, while the simulation's parameters and state arrays are those
    // of its run.
    using Look = std::function<void(std::size_t point)>;

    // One result per point (fewer if go_on ended it), a point being the values of all parameters.
    // Afterward the simulation's parameters are what they were. Throws the Error of the first
    // point that raises one; with EnsembleUse::lanes also if the scene cannot go into lanes, with
    // EnsembleUse::threads if there is one thread or memory for one member.
    std::vector<Result> evaluate(std::span<const std::vector<double>> points, bool gradient,
                                 const Look& look = {});

    // A report on the last run: "in 16 lanes, 1.2 MiB", "on 8 threads", or "one after the other: "
    // and the reason; "" before the first run.
    std::string report() const;

private:
    struct Way;
    void make_batch(Way& way, bool gradient);
    bool use_lanes(Way& way, bool gradient, std::size_t left);
    bool use_threads(Way& way, bool gradient, std::size_t left);
    static double in_lanes_seconds(const Way& way, std::size_t members);
    static std::size_t groups_of(const Way& way, std::size_t members);
    std::size_t places(const Way& way) const;
    void run_alone(std::span<const std::vector<double>> points, bool gradient, const Look& look,
                   std::vector<Result>& results);
    void run_group(Way& way, std::span<const std::vector<double>> points, std::size_t count,
                   bool gradient, const Look& look, std::vector<Result>& results);
    void run_on_threads(Way& way, std::span<const std::vector<double>> points, bool gradient,
                        const Look& look, std::vector<Result>& results);
    static Result alone(Simulation& simulation, const std::vector<double>& point, bool gradient);
    void spread(std::span<const std::vector<double>> points, bool gradient,
                const std::vector<Simulation*>& workers, bool one_each,
                std::vector<Result>& results) const;
    Result read(const Way& way, std::size_t member, bool gradient, bool state);
    void in_lanes(Way& way, std::span<const std::vector<double>> points, bool gradient);

    Simulation& simulation_;
    EnsembleOptions options_;
    std::array<std::unique_ptr<Way>, 2> ways_;  // forward; forward and backward
    std::unique_ptr<Copies> copies_;
    std::string report_;
};

}  // namespace hindcast
