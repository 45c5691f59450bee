// Scenes that are made with the mouse alone, from a new one to an optimization; clicks are counted.
#include <doctest/doctest.h>

#include <cmath>

#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using test::at;
using test::last_iteration;
using test::opened;
using test::Robot;
using test::runs_what_is_edited;

namespace {

// The hand on the mouse: each press of a button is one click, a drag as well.
class Mouse {
public:
    Mouse(Robot& robot, ImGuiTestContext& hands) : robot_(robot), hands_(hands) {}

    int clicks = 0;

    void click(const std::string& item) {
        ++clicks;
        hands_.ItemClick(item.c_str());
        robot_.frames(3);
    }

    // An item of a section's menu behind the tree's "Add".
    void add(const std::string& section, const std::string& item) {
        click("//###Scene/###Add");
        hands_.MouseMove(("//$FOCUSED/" + section).c_str());  // hovering opens it
        robot_.frames(30);
        click("//###Menu_00/" + item);
    }

    // An offer as it is proposed. False: it did not come into the scene.
    bool add_offer(const std::string& section, const std::string& offer) {
        add(section, "###offer " + offer);
        robot_.frames(3);
        robot_.picture("making_dialog_" + offer);
        click("//###offer/###Add");
        return added();
    }

    bool added() {
        const bool done = robot_.wait([&] { return robot_.work().adding.task() == nullptr; });
        robot_.frames(3);
        return done && runs_what_is_edited(robot_) && !robot_.now().reports.error;
    }

    // A box from one corner to the other, pixels of the window.
    void drag(ImVec2 from, ImVec2 to) {
        ++clicks;
        hands_.MouseMoveToPos(from);
        hands_.MouseDown(ImGuiMouseButton_Left);
        hands_.MouseMoveToPos(to);
        hands_.MouseUp(ImGuiMouseButton_Left);
        robot_.frames(3);
    }

    void box_around(const render::Vec3& place, float half) {
        const ImVec2 middle = test::on_screen(robot_, hands_, place);
        drag({middle.x - half, middle.y - half}, {middle.x + half, middle.y + half});
    }

    // Until there is something better than what it began with.
    void optimize() {
        click("//##toolbar/###Optimize");
        CHECK(robot_.wait([&] { return last_iteration(robot_) >= 1; }, 240));
        CHECK(robot_.wait([&] { return robot_.now().optimization.best_iteration > 0; }, 60));
        robot_.work().running.optimize(session::Optimize::What::stop);
        CHECK(robot_.wait([&] { return !robot_.work().running.is_optimizing(); }, 120));
        const auto& history = *robot_.now().optimization.history;
        const double before = history.front().loss;
        double best = before;
        for (const session::IterationInfo& row : history) best = std::min(best, row.loss);
        MESSAGE("loss " << before << " to " << best << " in " << clicks << " clicks");
        CHECK(best < before);
        robot_.frames(5);
    }

    // From the gallery.
    void begin_empty() {
        click("//**/###New from...");
        click("//$FOCUSED/###template empty");
        REQUIRE(opened(robot_));
        robot_.frames(4);
        test::stop_at(robot_, 0);
    }

private:
    Robot& robot_;
    ImGuiTestContext& hands_;
};

std::string tool(const char* icon, const char* id) {
    return std::string("//##toolbar/") + icon + "##" + id;
}

std::int64_t points_of(Robot& robot, const std::string& name) {
    for (const auto& body : robot.now().scene.stage->bodies)
        if (body.name == name) return body.count;
    return 0;
}

}  // namespace

TEST_CASE("gui making: a cloth pinned at two corners falls on a sphere, in under 40 clicks") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        Mouse mouse(robot, hands);
        mouse.begin_empty();
        REQUIRE(mouse.add_offer("Colliders", "sphere"));
        REQUIRE(mouse.add_offer("Bodies", "cloth"));
        CHECK(points_of(robot, "cloth") == 13 * 13);
        test::stop_at(robot, 0);
        robot.picture("making_cloth");

        // The corners at the back: points 12 and 168 of 13 rows of 13.
        mouse.click(tool("\xef\x89\x87", "box_tool"));
        for (const std::int64_t corner : {12, 168}) {
            const auto place = robot.work().chosen.where_is("cloth", corner);
            mouse.box_around({place[0], place[1], place[2]}, 2.5F);
            REQUIRE(robot.work().chosen.parts.find("cloth") != nullptr);
            CHECK(*robot.work().chosen.parts.find("cloth") == std::vector<std::int64_t>{corner});
            CHECK(robot.work().chosen.parts.count() == 1);
            robot.picture("making_corner");
            mouse.click("//###View/**/###Pin");
            test::stop_at(robot, 0);
        }
        CHECK(document::to_line(*at(robot, "/bodies/0/fixed")) == "[12, 168]");
        CHECK(robot.work().scene.editor().undo_name() == "Pin 1 point of cloth");
        CHECK(runs_what_is_edited(robot));
        mouse.click(tool(gui::icon::pointer, "look_tool"));

        // What is wanted, and what may change.
        mouse.add("Objective", "###center_of_mass");
        REQUIRE(mouse.added());
        mouse.add("Parameters", "sphere.friction");
        CHECK(runs_what_is_edited(robot));
        CHECK(at(robot, "/parameters/0/path")->string() == "sphere.friction");
        robot.picture("making_before");
        mouse.optimize();
        robot.picture("making_after");
        CHECK(mouse.clicks < 40);
    });
}

TEST_CASE("gui making: a chain; a beam with a stiffness for each element that was chosen") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        Mouse mouse(robot, hands);
        mouse.begin_empty();
        REQUIRE(mouse.add_offer("Bodies", "chain"));
        CHECK(points_of(robot, "chain") == 20);
        CHECK(at(robot, "/forces/0/type")->string() == "springs");
        robot.picture("making_chain");
        while (robot.work().scene.editor().can_undo())
            robot.work().scene.edit([](session::Editor& e) { e.undo(); });
        REQUIRE(mouse.add_offer("Bodies", "beam"));
        CHECK(points_of(robot, "beam") == 11 * 3 * 3);
        test::stop_at(robot, 0);
        mouse.click(tool("\xef\x89\x87", "box_tool"));
        mouse.click("//###View/**/Points");
        const ImRect view = hands.ItemInfo("//###View/picture").RectFull;
        mouse.drag({view.Min.x + 40, view.Min.y + 60}, {view.Max.x - 40, view.Max.y - 90});
        REQUIRE(robot.work().chosen.parts.find("beam") != nullptr);
        const auto chosen = robot.work().chosen.parts.count();
        CHECK(chosen > 100);
        robot.picture("making_elements");
        mouse.click("//###View/**/###Optimize of each");
        mouse.click("//$FOCUSED/###young_modulus");
        CHECK(runs_what_is_edited(robot));
        REQUIRE_FALSE(robot.now().reports.error);
        CHECK(robot.wait([&] {
            return robot.now().values.parameters.size() == 1 &&
                   static_cast<std::int64_t>(robot.now().values.parameters[0].names.size()) ==
                       chosen;
        }));
        CHECK(mouse.clicks < 40);
    });
}

TEST_CASE("gui making: a robot from another folder follows a target, in under 40 clicks") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        Mouse mouse(robot, hands);
        mouse.begin_empty();
        robot.work().settings.folder = (robot.scenes() / "robots").string();
        mouse.add("Bodies", "###offer robot");
        robot.frames(3);
        mouse.click("//###offer/###Browse...");
        robot.picture("making_browse");
        mouse.click("//###files/**/###arm_payload.xml");
        mouse.click("//###files/###Choose");
        robot.frames(3);
        robot.picture("making_robot_file");
        mouse.click("//###offer/###Add");
        REQUIRE(mouse.added());
        CHECK(at(robot, "/bodies/0/model")->string() == "arm_payload.xml");
        CHECK(robot.work().scene.editor().file().empty());
        test::stop_at(robot, 0);
        robot.picture("making_robot");

        mouse.add("Controllers", "###spline");
        REQUIRE(mouse.added());
        mouse.add("Objective", "###point_target");
        REQUIRE(mouse.added());
        mouse.add("Parameters", "spline.values");
        CHECK(runs_what_is_edited(robot));
        robot.picture("making_robot_before");
        mouse.optimize();
        robot.picture("making_robot_after");
        CHECK(mouse.clicks < 40);
    });
}

TEST_CASE("gui making: Shift + click chooses points; copies, mirror and size are one step each") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        Mouse mouse(robot, hands);
        mouse.begin_empty();
        REQUIRE(mouse.add_offer("Bodies", "cloth"));
        test::stop_at(robot, 0);
        const auto place = robot.work().chosen.where_is("cloth", 84);  // the middle
        hands.KeyDown(ImGuiMod_Shift);
        hands.MouseMoveToPos(test::on_screen(robot, hands, {place[0], place[1], place[2]}));
        hands.MouseClick(ImGuiMouseButton_Left);
        hands.KeyUp(ImGuiMod_Shift);
        robot.frames(3);
        CHECK(robot.work().chosen.parts.text() == "1 point of cloth");
        CHECK(robot.work().chosen.parts.find("cloth")->front() == 84);
        // The menu of the picture.
        hands.MouseClick(ImGuiMouseButton_Right);
        robot.frames(3);
        robot.picture("making_menu");
        mouse.click("//$FOCUSED/Add a target");
        CHECK(at(robot, "/objective/0/points/0")->integer() == 84);
        CHECK(runs_what_is_edited(robot));
        REQUIRE_FALSE(robot.now().reports.error);

        test::select(robot, "/bodies/0");
        robot.work().requests.show_array = true;
        robot.frames(4);
        robot.picture("making_array");
        mouse.click("//###array/###Add");
        CHECK(at(robot, "/bodies")->size() == 3);
        CHECK(robot.work().scene.editor().undo_name() == "2 copies of cloth");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        robot.picture("making_copies");
    });
}

TEST_CASE("gui making: a click of the right button opens a menu, a drag does not, however quick") {
    Robot robot;
    ImVec2 middle;
    robot.run([&](ImGuiTestContext& hands) {
        Mouse(robot, hands).begin_empty();
        middle = hands.ItemInfo("//###View/picture").RectFull.GetCenter();
    });
    // All that the mouse does between two frames, as where a frame takes long.
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigInputTrickleEventQueue = false;
    const auto opens_menu = [&](float moved) {
        io.AddMousePosEvent(middle.x, middle.y);
        robot.app().frame();
        io.AddMouseButtonEvent(ImGuiMouseButton_Right, true);
        robot.app().frame();
        io.AddMousePosEvent(middle.x + moved, middle.y);
        io.AddMouseButtonEvent(ImGuiMouseButton_Right, false);
        for (int k = 0; k < 3; ++k) robot.app().frame();
        return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
    };
    CHECK_FALSE(opens_menu(40));
    CHECK(opens_menu(0));
}
