// Many calls of a SceneFunction at once: losses and their gradients through the ensemble
// (ensemble.hpp), all other kinds on a thread each, with copies of the simulation, once calls one
// after the other have taken long enough. Each result has the bits of its call alone.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/sim/ensembles/copies.hpp"
#include "engine/sim/ensembles/ensemble.hpp"
#include "engine/sim/functions/scene_function.hpp"

namespace hindcast {

class ManyCalls {
public:
    using Call = SceneFunction::Call;
    using Results = std::vector<std::vector<double>>;
    using Run = std::function<std::vector<double>(Simulation&, const Call&)>;

    // The simulation, with the function's inputs as parameters, must outlive this.
    explicit ManyCalls(Simulation& simulation) : simulation_(simulation) {}

    // For a function whose only output is the loss, calls of kind value or vjp.
    Results through_ensemble(std::span<const Call> calls);

    // Notes the time of a call that ran on the function's own simulation.
    void note_alone(double seconds) { seconds_alone_ += seconds; }
    // Runs the calls that have no result yet on threads, if that is worth it. False: they are to
    // run one after the other. Throws the error of the first call that raises one.
    bool on_threads(std::span<const Call> calls, Results& results, const Run& run);

private:
    bool has_copies();

    Simulation& simulation_;
    std::unique_ptr<Ensemble> ensemble_;
    double seconds_alone_ = 0;  // of several calls at once, one after the other
    bool copies_tried_ = false;
    std::unique_ptr<Copies> copies_;
};

}  // namespace hindcast
