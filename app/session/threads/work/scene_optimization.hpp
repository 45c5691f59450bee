// The Optimization of the scene as it is now: made, lengthened, and taken along when another scene
// takes over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "app/session/threads/running/runner_state.hpp"
#include "engine/sim/optimization/optimization.hpp"

namespace hindcast::session {

class SceneOptimization {
public:
    explicit SceneOptimization(RunnerState& state) : state_(state) {}

    explicit operator bool() const { return optimization_ != nullptr; }
    Optimization* operator->() { return optimization_.get(); }
    // A row has been reported; `iteration`: of the last one.
    bool has_begun() const { return began_; }
    std::int64_t iteration() const { return iteration_; }
    void note_row(std::int64_t iteration) {
        began_ = true;
        iteration_ = iteration;
    }

    // A new one, from the current parameters. Throws Error if there is nothing to optimize.
    void make();
    void make_again();  // if there is one
    // Adds as many iterations as the scene has.
    void lengthen();
    void drop();
    // Its name and number of iterations, for the window. Call it under the shared lock.
    void publish() const;

    // The part of an Optimization that goes on in the next build of its scene.
    struct Carried {
        std::optional<document::Node> state;  // none: it begins anew
        std::int64_t iterations = -1;         // if it was lengthened; -1: those of the scene
    };
    // Call leave() before the simulation is replaced, and enter() afterward. If the optimizer or
    // its parameters are others, it begins anew.
    Carried leave();
    void enter(const Carried& carried);

private:
    RunnerState& state_;
    std::unique_ptr<Optimization> optimization_;
    bool began_ = false;
    std::int64_t iteration_ = 0;
};

}  // namespace hindcast::session
