// Snapshot: the state of the session for the window, by topics (this folder). A snapshot is
// immutable; each one replaces the one before, and any thread may read it. Code that needs one topic
// takes that topic.
//
//     const auto snapshot = session.snapshot();
//     draw_loss(snapshot->run);
#pragma once

#include <cstdint>

#include "app/session/link/handover.hpp"
#include "app/session/link/memory.hpp"
#include "app/session/link/optimization.hpp"
#include "app/session/link/pulls.hpp"
#include "app/session/link/reports.hpp"
#include "app/session/link/run.hpp"
#include "app/session/link/scene.hpp"
#include "app/session/link/tools.hpp"
#include "app/session/link/values.hpp"
#include "app/session/link/view.hpp"

namespace hindcast::session {

struct Snapshot {
    std::uint64_t serial = 0;
    ReportsSnapshot reports;
    HandoverSnapshot handover;
    SceneSnapshot scene;
    RunSnapshot run;
    OptimizationSnapshot optimization;
    ValuesSnapshot values;
    ViewSnapshot view;
    PullsSnapshot pulls;
    ToolsSnapshot tools;
    MemorySnapshot memory;

    bool shows_older_scene() const {
        return scene.shown_build != scene.build && optimization.shown_iteration >= 0;
    }
};

}  // namespace hindcast::session
