// The scene's file: saving, reloading, and the questions before something would be lost: edits of
// the document that are not in its file, and values that were found and are not accepted.
#pragma once

#include <filesystem>
#include <functional>

namespace hindcast::gui {

class EditedScene;
class FoundValues;
class Handover;
class Messages;
struct Requests;
class Running;
struct SceneText;

class Saving {
public:
    Saving(Running& running, EditedScene& scene, SceneText& text, Handover& handover,
           FoundValues& values, Requests& requests, Messages& messages);

    // Looks at the scene's file and writes the autosave; call it once a frame.
    void watch_files();
    static constexpr double autosave_interval = 5;  // s

    // Writes the document. Values found by the optimization are not in it before they are accepted;
    // the user is then told, with a button that accepts and saves. False: needs a name, or failed.
    bool save();
    bool save_as(const std::filesystem::path& file);
    void forget_name();  // the user has canceled the dialog for the name
    void reload(bool by_user = true);
    // Runs `next` at once, or after the user has decided about unsaved changes and about values
    // that were found and are not accepted.
    void when_saved(std::function<void()> next);
    // Accepts the values that were found, then does the next thing; without one, saves the scene.
    void accept_and_save(std::function<void()> next = {});
    void accept_identified_and_save(const std::function<void()>& next = {});

private:
    bool save_as_it_is();

    Running& running_;
    EditedScene& scene_;
    SceneText& text_;
    Handover& handover_;
    FoundValues& values_;
    Requests& requests_;
    Messages& messages_;
    std::function<void()> after_name_;
    double next_autosave_ = 0;  // in frame_wishes().now()
};

}  // namespace hindcast::gui
