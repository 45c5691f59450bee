// Tools that compute something about the loss beside the optimization: the gradient check, which
// the runner does itself, and the scan and the gradient probe, which run in the background. They
// work on the parameters shown, with the scene that these were run with.
#pragma once

#include "app/session/threads/running/interrupts.hpp"
#include "app/session/threads/tools/gradient_probe.hpp"
#include "app/session/threads/tools/loss_scan.hpp"

namespace hindcast::session {

class Tools {
public:
    Tools(RunnerState& state, Interrupts& interrupts)
        : state_(state),
          shared_(state.shared),
          interrupts_(interrupts),
          loss_scan_(state.shared),
          gradient_probe_(state.shared) {}

    void check_gradient();
    void start_scan(const Scan& command);
    void cancel_scan() { loss_scan_.cancel(); }
    // Starts the probe at the trajectory shown, if the user watches gradients and it is not there.
    void probe_gradients(const TrajectoryPointer& at);
    void cancel();  // all that runs in the background

private:
    struct Input {
        std::shared_ptr<const document::Document> document;
        SharedValues parameters;
    };
    Input input() const;

    RunnerState& state_;
    SharedState& shared_;
    Interrupts& interrupts_;
    LossScan loss_scan_;
    GradientProbe gradient_probe_;
};

}  // namespace hindcast::session
