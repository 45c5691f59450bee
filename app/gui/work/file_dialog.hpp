// The file dialog: a scene to open, where to save one, or any file that is asked for.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

class FileDialog {
public:
    // Opens on a request (Requests), and acts on the chosen file.
    void draw(Topics& work);

private:
    enum class TextField : std::uint8_t { none, folder, name };
    enum class Purpose : std::uint8_t { open, save, choose, results };
    void begin(Topics& work, Purpose purpose);
    bool saving() const { return purpose_ == Purpose::save; }
    bool is_wanted(const std::filesystem::path& file) const;
    bool is_results_folder() const;  // the one that is shown
    void go_to(const std::filesystem::path& folder, TextField typed_in = TextField::name);
    void choose(Topics& work);
    void sort();
    void refuse(const std::string& fault, TextField typed_in = TextField::name);
    void draw_preview();

    struct Entry {
        std::filesystem::path path;
        bool folder = false;
        std::uintmax_t bytes = 0;
        std::string changed;
    };
    Purpose purpose_ = Purpose::open;
    FileWish wish_;  // what is to be chosen
    bool confirm_ = false;
    std::filesystem::path folder_, results_folder_;  // the latter: where results were opened last
    std::string name_, folder_text_, fault_;
    std::vector<Entry> entries_;
    int sorted_by_ = 0;  // column
    bool descending_ = false;
    TextField takes_focus_ = TextField::none;  // in the next frame
    struct Preview {
        std::filesystem::path of;
        std::string name, description;
    };
    Preview preview_;
};

}  // namespace hindcast::gui
