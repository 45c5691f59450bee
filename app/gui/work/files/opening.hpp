// Scenes that are opened or made, and what happens if one does not load.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/session/document/editor.hpp"

namespace hindcast::gui {

struct Chosen;
class EditedScene;
class Handover;
class Messages;
struct Requests;
class Running;
class Saving;
struct SceneText;

class Opening {
public:
    Opening(Running& running, EditedScene& scene, SceneText& text, Chosen& chosen,
            Handover& handover, Saving& saving, Requests& requests, Messages& messages);

    // Each of these asks about unsaved changes first.
    void open(const std::filesystem::path& file);
    void open_autosave(const session::Editor::Autosave& found);
    void make_new();
    void make_from(const std::string& scene_template);  // its id
    void close();

    // Shows why the scene that was to be opened is refused.
    void show_refused();
    // Offers the unsaved changes of a session with the scene's file that did not end by itself.
    void offer_autosave();

    // Wishes for the next scene that opens.
    bool optimize_when_open = false;
    std::string checkpoint_when_open;  // its values are used; empty: none

private:
    void begin(const std::function<void(session::Editor&)>& load,
               const std::function<void(const Error&)>& failed);
    void failed_load(const std::filesystem::path& file, const Error& error);
    void show_broken(const std::filesystem::path& file, const Error& error);

    Running& running_;
    EditedScene& scene_;
    SceneText& text_;
    Chosen& chosen_;
    Handover& handover_;
    Saving& saving_;
    Requests& requests_;
    Messages& messages_;
};

}  // namespace hindcast::gui
