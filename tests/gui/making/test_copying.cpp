// Objects that are copied and pasted, within a scene and into another one.
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::Robot;

TEST_CASE("gui: an object is copied, and pasted beside itself and into another scene") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        test::open(robot, "spring_cage.json");
        const auto forces = [&] { return test::at(robot, "/forces")->size(); };
        REQUIRE(forces() == 1);
        test::select(robot, "/forces/0");
        const std::string name = robot.work().scene.name_at("/forces/0");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_V);
        REQUIRE(forces() == 2);
        CHECK(robot.work().chosen.object.pointer == "/forces/1");
        CHECK(robot.work().scene.name_at("/forces/0") == name);
        CHECK(robot.work().scene.name_at("/forces/1") != name);
        document::Node pasted = *test::at(robot, "/forces/1"),
                       copied = *test::at(robot, "/forces/0");
        for (document::Node* const one : {&pasted, &copied}) one->erase("name");
        CHECK(document::to_line(pasted) == document::to_line(copied));
        REQUIRE(test::runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(forces() == 1);
        CHECK_FALSE(robot.work().scene.editor().unsaved());

        // The clipboard outlives its scene. A body needs nothing of it.
        test::select(robot, "/bodies/0");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
        const std::string text = ImGui::GetClipboardText();
        CHECK(text.find("\"bodies\"") != std::string::npos);
        test::open(robot, "thrown_ball.json");
        const std::size_t before = test::at(robot, "/bodies")->size();
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_V);
        CHECK(test::at(robot, "/bodies")->size() == before + 1);

        // Any other text changes nothing, and says why.
        ImGui::SetClipboardText("not a scene");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_V);
        CHECK(test::at(robot, "/bodies")->size() == before + 1);
        CHECK(std::ranges::any_of(robot.work().messages.notices(), [](const gui::Notice& notice) {
            return (notice.text + notice.detail).find("no object of a scene") != std::string::npos;
        }));
    });
}
