// The bundled scenes before one is open: in groups, each with a sentence and a picture, which moves
// under the mouse.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "app/gui/window/gallery.hpp"
#include "app/render/output/png.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::message;
using test::Robot;
namespace fs = std::filesystem;

namespace {

const fs::path bundled = fs::path(test::source_dir) / "scenes";

std::vector<fs::path> all_scenes() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(bundled))
        if (entry.path().parent_path() != bundled / "pictures" && gui::is_scene(entry.path()))
            files.push_back(entry.path());
    return files;
}

void write(const fs::path& file, const char* text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("gallery: every bundled scene is in a group, says what it is about, and has pictures") {
    std::multiset<fs::path> shown;
    for (const gui::SceneGroup& group : gui::scene_groups(bundled)) {
        CHECK(!group.title.empty());
        CHECK(group.title != "Other scenes");
        shown.insert(group.scenes.begin(), group.scenes.end());
    }
    for (const fs::path& file : all_scenes()) {
        CAPTURE(file.string());
        CHECK(shown.count(file) == 1);
        const gui::SceneCard card = gui::read_card(file);
        CHECK(!card.name.empty());
        CHECK((card.description.ends_with(".") || card.description.ends_with("?")));
        const fs::path pictures = bundled / "pictures";
        CHECK(fs::exists(pictures / (file.stem().string() + ".png")));
        const fs::path strip = pictures / (file.stem().string() + ".strip.png");
        REQUIRE(fs::exists(strip));
        const render::Image image = render::read_png(strip);
        CHECK(image.width == gui::strip_columns * 240);
        CHECK(image.height == gui::strip_rows * 136);
    }
    CHECK(shown.size() == all_scenes().size());
}

TEST_CASE(
    "gallery: a folder without a list shows its scenes by name, what a list leaves out last") {
    const test::TemporaryFolder folder;
    write(folder / "b.json", "{}");
    write(folder / "a.json", "{}");
    write(folder / "a.test.json", "{}");
    const auto plain = gui::scene_groups(folder.path());
    REQUIRE(plain.size() == 1);
    CHECK(plain[0].title.empty());
    CHECK(plain[0].scenes == std::vector{folder / "a.json", folder / "b.json"});

    write(folder / "pictures/gallery.json",
          R"({"groups": [{"title": "Best", "scenes": ["b.json"]}]})");
    const auto listed = gui::scene_groups(folder.path());
    REQUIRE(listed.size() == 2);
    CHECK(listed[0].title == "Best");
    CHECK(listed[0].scenes == std::vector{folder / "b.json"});
    CHECK(listed[1].title == "Other scenes");
    CHECK(listed[1].scenes == std::vector{folder / "a.json"});

    const auto said = [&](const char* text) {
        write(folder / "pictures/gallery.json", text);
        return message([&] { gui::scene_groups(folder.path()); });
    };
    CHECK(said(R"({"groups": [{"title": "Best", "scenes": ["c.json"]}]})")
              .ends_with("gallery.json:1:42: at /groups/0/scenes/0: there is no file 'c.json'"));
    CHECK(said(R"({"groups": [{"title": "Best", "scenes": ["a.json", "a.json"]}]})")
              .ends_with("at /groups/0/scenes/1: 'a.json' is named twice"));
    CHECK(said(R"({"groups": [{"title": "Best", "scenes": []}], "other": 1})")
              .find("unknown key 'other' in a gallery") != std::string::npos);
    CHECK(said(R"({"groups": [{"scenes": []}]})").find("title") != std::string::npos);
}

TEST_CASE("gallery: the picture under the mouse moves, and no other") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext& hands) {
        // The cards; below them is the status bar, whose figures change with each frame.
        const auto cards = [&] {
            const render::Image all = robot.app().screenshot();
            const auto row = static_cast<std::size_t>(all.width) * 4;
            const auto rows = static_cast<std::size_t>(all.height) - 60;
            return std::vector(all.pixels.begin(),
                               all.pixels.begin() + static_cast<std::ptrdiff_t>(row * rows));
        };
        const auto moves = [&](double seconds) {
            hands.SleepNoSkip(1.0F, 0.02F);  // until what the mouse has changed is there
            const auto before = cards();
            return robot.wait([&] { return cards() != before; }, seconds);
        };
        CHECK_FALSE(moves(0.5));
        hands.MouseMove("//##dock/**/spring cage");
        CHECK(moves(5));
        robot.picture("gallery_hovered");
        hands.MouseMoveToPos({5, 400});
        CHECK_FALSE(moves(0.5));
    });
}

TEST_CASE("gallery: groups that hold nothing of what is looked for are gone") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        robot.frames(2);
        hands.ItemInput("//##dock/**/##search");
        hands.KeyCharsReplace("cloth");
        robot.frames(4);
        robot.picture("gallery_found");
        CHECK(hands.ItemExists("//##dock/**/cloth over ball"));
        CHECK_FALSE(hands.ItemExists("//##dock/**/billiards"));
        hands.KeyCharsReplace("nothing like it");
        robot.frames(4);
        CHECK_FALSE(hands.ItemExists("//##dock/**/cloth over ball"));
    });
}
