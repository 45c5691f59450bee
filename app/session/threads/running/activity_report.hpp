// The runner's present activity, as the window shows it: a kind, a text and a progress bar.
#pragma once

#include <string>

#include "app/session/threads/shared/shared_state.hpp"

namespace hindcast::session {

class ActivityReport {
public:
    explicit ActivityReport(SharedState& shared) : shared_(shared) {}

    // `progress`: 0 .. 1; -1: unknown.
    void set(Activity activity, const std::string& text = "", double progress = -1);
    // The activity has come so far; call these under the shared lock.
    void advance(double progress);
    void advance(double progress, const std::string& text);
    // Shows, in place of the activity's own text, the work that it waits for, such as compiling.
    // An empty text brings the activity's text back.
    void wait_for(const std::string& text);
    // The runner has nothing to do. Call it under the shared lock.
    void end(bool has_scene);

private:
    SharedState& shared_;
    std::string awaited_;   // the last text of wait_for()
    std::string own_text_;  // the activity's text before that
};

}  // namespace hindcast::session
