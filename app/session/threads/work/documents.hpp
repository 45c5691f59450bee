// Documents. If a document differs from the one that runs only in numbers that a build would merely
// upload (engine/sim/values/values_in_place.hpp), they are set in the running simulation: nothing
// is built, and compiled code, optimizer and history stay.
//
// Any other document is built. Then it may still be that only numbers differ, of quantities that
// have a gradient: everything that depends on those does so through arrays of the device, as when
// the optimizer changes them. They are set in the running simulation too. Otherwise the new
// simulation takes over.
#pragma once

#include <memory>

#include "app/session/document/compare.hpp"
#include "app/session/threads/work/optimizer.hpp"
#include "app/session/threads/work/warning_check.hpp"

namespace hindcast::session {

class Documents {
public:
    Documents(RunnerState& state, Interrupts& interrupts, History& history, BuiltScenes& scenes,
              TrajectoryRuns& trajectories, Optimizer& optimizer, Launches& launches,
              WarningCheck& warnings);

    // Makes the document the one that runs. A document that cannot be built is reported, and the
    // scene before goes on.
    void apply(const Apply& command);
    // Builds the document that runs once more: it was set in place and turned out to warn.
    void build_again();

private:
    void note_running(const Apply& command);
    // The values of all quantities of this document, if the running simulation can be given them
    // without a build; null: only a build can tell.
    SharedNumbers edited_in_place(const Difference& difference,
                                  const document::Document& document) const;
    // The same for a document that was built, in which formulas and values made from others may
    // have changed too. Null: more differs than numbers of quantities with a gradient.
    SharedNumbers built_in_place(const Difference& difference, Simulation& next) const;
    void set_in_place(SharedNumbers base);
    // Parameters keep their current values if they still exist and were not edited.
    void carry_over(Simulation& next) const;
    void take_over(std::unique_ptr<Simulation> next, const Apply& command);

    RunnerState& state_;
    SharedState& shared_;
    Interrupts& interrupts_;
    History& history_;
    BuiltScenes& scenes_;
    TrajectoryRuns& trajectories_;
    Optimizer& optimizer_;
    Launches& launches_;
    WarningCheck& warnings_;
    std::int64_t builds_ = 0;  // so far: SceneSnapshot::build of the last one
};

}  // namespace hindcast::session
