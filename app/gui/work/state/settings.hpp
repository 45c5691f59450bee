// The user's settings and their file, settings.json of the state folder.
#pragma once

#include <filesystem>
#include <string>

namespace hindcast::render {
struct View;
}

namespace hindcast::gui {

class Messages;

struct Settings {
    bool dark = true;
    double font_scale = 1;
    bool tour_done = false;
    bool shadows = true, ambient_occlusion = true, floor = true;
    int samples = 4;
    bool text_beside = false;  // the scene's text beside the view, not behind it
    int layout = -1;           // the size of window that the layout is for (shell.cpp)
    std::string folder;        // where the dialog last opened or saved a scene

    void set(render::View& view) const;  // the view's fields that are settings
};

// Settings that are read from their file and written to it. A broken file counts as none, so that
// the window opens.
class KeptSettings : public Settings {
public:
    KeptSettings(std::filesystem::path state_folder, Messages& messages);

    // Writes the file and marks the settings as changed. Shows why it fails.
    void save();

    bool are_kept = false;  // from an earlier session
    bool changed = true;    // the window has to apply them

private:
    void load();

    std::filesystem::path file_;
    Messages& messages_;
};

}  // namespace hindcast::gui
