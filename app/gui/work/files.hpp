// The file dialog for scene files, and the gallery of bundled scenes with their pictures.
#pragma once

#include <imgui.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/draw/picture.hpp"
#include "app/gui/work/workspace.hpp"

namespace hindcast::gui {

// What is shown of a scene file before it is opened.
struct SceneCard {
    std::string name, description, what;  // `what`: the parameters
};

class FileDialog {
public:
    // Opens when the workspace requests it, and gives the workspace the result.
    void draw(Workspace& work);

private:
    enum class TextField : std::uint8_t { none, folder, name };
    void begin(Workspace& work, bool saving);
    void go_to(const std::filesystem::path& folder, TextField typed_in = TextField::name);
    void choose(Workspace& work);
    void sort();
    void refuse(const std::string& fault, TextField typed_in = TextField::name);
    void draw_preview();

    struct Entry {
        std::filesystem::path path;
        bool folder = false;
        std::uintmax_t bytes = 0;
        std::string changed;
    };
    bool opening_ = false, saving_ = false, confirm_ = false;
    std::filesystem::path folder_;
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

// The window's content before a scene is open.
class Gallery {
public:
    void draw(Workspace& work, Picture& picture, Canvas& canvas);
    // Sets the canvas for the cards' pictures. Those uploaded to another canvas are dropped.
    void set_canvas(Canvas& canvas) {
        canvas_ = &canvas;
        for (Card& card : cards_) {
            card.picture.reset();
            card.looked_for = false;
        }
    }
    Canvas* canvas() { return canvas_; }

private:
    struct Card : SceneCard {
        std::filesystem::path file;
        std::optional<ImTextureID> picture;
        float aspect = 1.6F;
        bool looked_for = false;
    };
    void read(Workspace& work);
    bool draw_card(Workspace& work, Card& card, float width, float text_height);
    Canvas* canvas_ = nullptr;
    std::vector<Card> cards_;
    bool read_ = false;
    std::string search_;
};

}  // namespace hindcast::gui
