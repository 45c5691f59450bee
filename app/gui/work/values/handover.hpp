// Documents on their way to the session. Each document that is sent has a new number, whichever
// editor it comes from; the snapshot names the newest number that it knows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/session/document/editor.hpp"
#include "engine/base/error.hpp"

namespace hindcast::gui {

class EditedScene;
class Messages;
class Reports;
class Running;

class Handover {
public:
    Handover(Running& running, EditedScene& scene, Reports& reports, Messages& messages);

    // Sends the document if it has changed. Returns true if it did.
    bool apply();
    std::uint64_t number() const { return number_; }  // of the last document that was sent
    // True if the simulation does not run the current document: not yet, or not at all.
    bool is_behind() const;
    // True if the session has refused the current document.
    bool is_refused() const;

    // ---- edits on trial ----
    // The last edit is undone, and the reason shown, if the scene cannot be built with it.
    void take_back_unless_it_loads();
    void take_back_refused();  // does so; call it once a frame

    // ---- a scene to be opened. It replaces the open one once its simulation is built. ----
    void open(std::unique_ptr<session::Editor> fresh);
    bool is_opening() const { return opening_ != nullptr; }
    std::filesystem::path opening_file() const;
    enum class State { waits, refused, built };
    State opening_state() const;
    // Ends the opening. Returns the editor of a scene that was refused.
    std::unique_ptr<session::Editor> take_refused();
    // Ends the opening: shows the scene that was built.
    void show_opened();

private:
    Running& running_;
    EditedScene& scene_;
    Reports& reports_;
    Messages& messages_;
    std::uint64_t number_ = 0, sent_revision_ = 0;
    std::optional<std::uint64_t> on_trial_;  // the editor's revision with such an edit
    std::unique_ptr<session::Editor> opening_;
    std::uint64_t opening_number_ = 0;
    std::shared_ptr<const Error> error_before_;  // the snapshot's error when the opening began
};

}  // namespace hindcast::gui
