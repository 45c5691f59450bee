// Values of parameters that the optimization or an identification has found, and their way into the
// document: the session answers with a document, which becomes one step of undo.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/session/link/command.hpp"

namespace hindcast::gui {

class EditedScene;
class Handover;
class Messages;
class Running;

// An identification whose values are not in the document; its panel keeps this up to date.
struct IdentifiedValues {
    bool runs = false;             // it has no values yet
    std::function<bool()> accept;  // writes them into the document; false: it failed
};

class FoundValues {
public:
    FoundValues(Running& running, EditedScene& scene, Handover& handover, Messages& messages);

    // ---- asking for values ----
    void accept();
    void accept_best();  // the iteration with the lowest loss, whichever is shown
    // Accepts and then does the next thing. `newest`: those of the newest iteration, whichever is
    // shown.
    void accept_then(std::function<void()> next, bool newest = false,
                     std::optional<std::int64_t> iteration = {});
    // Goes back to that iteration and optimizes on. For one of an older scene this restores that
    // scene, as an edit.
    void branch(std::int64_t iteration);
    // Writes values into the scene as one step of undo. Then does the next thing, if there is one.
    void use(session::UseValues values, std::function<void()> next = {});
    // True while the scene does not have yet what was asked for.
    bool waits() const { return answered_ != number_; }
    void forget_next() { next_ = {}; }  // the next thing is not done
    void begin();                       // for a scene that has been opened

    // ---- once a frame ----
    void take_answer();
    void apply();  // sends the document, and what belongs to it

    // ---- values that are not in the document ----
    // True if the optimization has found values that are not in the document.
    bool has_unaccepted() const;
    // The same for the identification; false while it runs.
    bool has_unaccepted_identification() const;
    bool is_identifying() const;
    // "iteration 12, which is shown, with the loss 3.4e-05": what would be accepted.
    std::string results_text() const;

    std::optional<IdentifiedValues> identification;

private:
    std::string better_text() const;

    Running& running_;
    EditedScene& scene_;
    Handover& handover_;
    Messages& messages_;
    std::uint64_t number_ = 0, answered_ = 0;   // of what was asked for
    std::function<void()> next_;                // after the answer
    std::optional<std::int64_t> branch_asked_;  // until answered
    std::optional<std::int64_t> branch_to_;     // until the scene is sent
    bool accepted_waits_ = false;               // accepted values are to be sent
    std::uint64_t accepted_in_ = 0;  // the number of the document in which the last was accepted
};

}  // namespace hindcast::gui
