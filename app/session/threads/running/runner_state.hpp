// The data that all kinds of the runner's work need: the scene that runs, its document and its
// numbers, the state shared with Playback, and the session's options. Runner owns it; only the
// runner's thread uses it, unless a member says otherwise.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "app/session/session.hpp"
#include "app/session/threads/running/activity_report.hpp"
#include "app/session/threads/shared/shared_state.hpp"

namespace hindcast::session {

// The values of all quantities of a scene, in the order of SceneInfo::quantities.
using SharedNumbers = std::shared_ptr<const std::vector<SharedValues>>;

struct BuiltScene {
    std::unique_ptr<Simulation> simulation;
    SceneInfoPointer scene;
    std::vector<SharedValues> loaded;  // the values that the simulation's quantities have
    bool gradients_planned = false, gradients_failed = false;

    // Gives the simulation these numbers. Only those that differ are uploaded. `parameters`: values
    // that replace some of `base`; may be null.
    void load(const std::vector<SharedValues>& base, const SharedValues& parameters);
};

struct RunnerState {
    RunnerState(SharedState& shared_state, const Registry& all_modules, SessionOptions wanted);

    SharedState& shared;
    const Registry& registry;
    const SessionOptions options;
    ActivityReport activity;

    BuiltScene now;  // the scene as it is now; no simulation: there is none yet
    std::shared_ptr<const document::Document> document;
    std::filesystem::path file;  // the document was read from here
    std::uint64_t revision = 0;  // of the document
    SharedNumbers base;          // the values of all quantities in the document
    SharedValues written;        // the values of the parameters in the document
    SharedValues values;         // their current values: edited, optimized or branched from

    bool optimizing = false;  // the user has started the optimization, and it has not ended
    bool rests = false;       // a live optimization has come to its end: it waits for an edit
    bool computes_rows() const { return optimizing && !rests; }

    void load() { now.load(*base, values); }  // the current numbers into the simulation
    // Tells the window if the current parameters differ from the document's. Call it under the
    // shared lock.
    void note_unaccepted();
};

}  // namespace hindcast::session
