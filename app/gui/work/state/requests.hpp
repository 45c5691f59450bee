// Requests to the parts of the window that handle them: dialogs to open, a panel to bring to the
// front, a picture to take. The handler clears a request.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hindcast::gui {

// The part of the scene that the camera should frame.
enum class Framing { nothing, selection, scene };

// A request for a file. The names of fitting files end with one of `endings` (".obj").
struct FileWish {
    std::string title;
    std::vector<std::string> endings;
    std::function<void(const std::filesystem::path& file)> chosen;
    std::function<void()> canceled;  // may be empty
};

struct Requests {
    std::optional<std::filesystem::path> screenshot;  // empty path: a new name beside the scene
    std::string focus_panel;                          // the panel to bring to the front
    std::optional<std::string> plot_only;             // a path: the plots show only its parameters
    bool reset_layout = false, hide_panels = false;
    std::optional<FileWish> wants_file;
    bool show_open_results = false;
    bool show_open = false, show_save_as = false, show_help = false, show_palette = false;
    bool show_tour = false, show_gallery = false, show_export = false;
    bool show_settings = false;
    std::string show_offer;                      // the id of the offer whose numbers are asked for
    bool show_array = false, show_size = false;  // how often, and how large, the selected object
    Framing framing = Framing::nothing;
    bool text_beside_changed = false;  // Settings::text_beside, by the user
    int tour_step = 0;
};

}  // namespace hindcast::gui
