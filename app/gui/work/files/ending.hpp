// The end of the program: after a question, or at once as on a signal.
#pragma once

#include <chrono>
#include <optional>

namespace hindcast::gui {

class EditedScene;
class FoundValues;
class Messages;
class Saving;

class Ending {
public:
    Ending(EditedScene& scene, FoundValues& values, Saving& saving, Messages& messages);

    // Ends after the user has decided about unsaved changes.
    void request();
    // Ends without a question, as on a signal. Unsaved changes stay in the autosave, with the
    // values that the optimization has found; for these it waits for the end of the current
    // iteration, at most two seconds, and not at all with `now`. May be called more than once.
    void end_without_asking(bool now = false);
    void update();                           // call it once a frame
    bool has_come() const { return come_; }  // the program ends now
    bool left_autosave() const { return left_autosave_; }

private:
    EditedScene& scene_;
    FoundValues& values_;
    Saving& saving_;
    Messages& messages_;
    bool come_ = false, left_autosave_ = false;
    std::optional<std::chrono::steady_clock::time_point> ends_by_;
};

}  // namespace hindcast::gui
