// The window's content before a scene is open: the bundled scenes with their pictures, which move
// where the mouse comes to one, and stand still again.
#pragma once

#include <imgui.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/draw/canvas.hpp"
#include "app/gui/work/scene_card.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

// In a folder of scenes pictures/NAME.png is the picture of NAME.json there or below, and
// pictures/NAME.strip.png are frames of it that follow each other, strip_columns x strip_rows of them, row by row.
constexpr int strip_columns = 5, strip_rows = 4;
constexpr double strip_frames_per_second = 10;
constexpr int strip_rounds = 2;  // that it moves

class Gallery {
public:
    void draw(Topics& work);
    // Sets the canvas for the cards' pictures. Those uploaded to another canvas are dropped.
    void set_canvas(Canvas& canvas);

private:
    struct Shown {
        std::optional<ImTextureID> texture;
        float aspect = 1.6F;
        bool looked_for = false;
    };
    struct Card : SceneCard {
        std::filesystem::path file, picture;  // the picture without its ending
        Shown still, strip;
    };
    struct Group {
        std::string title;
        std::vector<Card> cards;
    };
    void read(const EditedScene& scene);
    void load(Shown& shown, const Card& card, const char* ending);
    void draw_head(Topics& work);
    void draw_card(Opening& opening, Card& card, float width, float text_height);
    bool draw_group(Topics& work, Group& group);  // false: nothing of it is looked for

    Canvas* canvas_ = nullptr;
    std::vector<Group> groups_;
    bool read_ = false;
    std::string fault_;  // of a list of scenes
    std::string search_;
    std::uint64_t scenes_shown_ = 0;  // EditedScene::scenes_shown(): a new scene clears the search
    std::filesystem::path under_;     // the scene under the mouse
    double since_ = 0;                // when the mouse came there, s
};

}  // namespace hindcast::gui
