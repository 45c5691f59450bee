// Warnings of the simulation, as they are found. A build finds those about the scene's numbers.
// Numbers that are set in place are not built, so a build in the background checks them once there
// is nothing else to do. If it warns, the scene must be built anew, as for any other edit.
#pragma once

#include <atomic>
#include <memory>

#include "app/session/background_task.hpp"
#include "app/session/threads/running/runner_state.hpp"

namespace hindcast::session {

class WarningCheck {
public:
    explicit WarningCheck(RunnerState& state) : state_(state), shared_(state.shared) {}

    // The session's options for the simulation that runs: each warning is published at once.
    SimulationOptions heard_options();
    // True if other numbers may take away a warning of the simulation that runs. They must not be
    // set in place then, because the simulation would keep its warning.
    bool numbers_warn() const;
    void publish();  // and logs those that are new

    // Numbers of this document were set in place.
    void note_unchecked(std::shared_ptr<const document::Document> document) {
        unchecked_ = std::move(document);
    }
    // Starts the check in the background, if numbers were set in place since the last one.
    void check();
    // True, once, if the check has found that the document that runs warns.
    bool has_found();
    void cancel() { task_.cancel(); }

private:
    RunnerState& state_;
    SharedState& shared_;
    std::shared_ptr<const document::Document> unchecked_;
    std::shared_ptr<const document::Document> warns_;  // under the shared lock
    std::atomic<bool> checks_ = false;
    BackgroundTask task_;  // last: it ends before the members that it writes
};

}  // namespace hindcast::session
