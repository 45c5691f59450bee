// What scripts begin with.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/handover.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/robot.hpp"

namespace hindcast::test {

// Until the scene that was asked for runs. False after the time.
inline bool opened(Robot& robot) {
    return robot.wait([&] {
        return robot.work().scene.is_open() && robot.work().running.has_run() &&
               robot.now().reports.activity != session::Activity::building &&
               !robot.work().handover.is_opening();
    });
}

inline void open(Robot& robot, const std::string& name) {
    robot.work().opening.open(robot.scenes() / name);
    REQUIRE(opened(robot));
    robot.frames(4);
}

// Stops the time, at a step.
inline void stop_at(Robot& robot, std::int64_t step) {
    robot.work().running.play(false);
    robot.work().running.send(session::Seek{step});
    REQUIRE(robot.wait([&] {
        return !robot.now().run.playing && robot.now().run.step == step &&
               robot.now().run.steps_computed == robot.now().run.steps;
    }));
    robot.frames(3);
}

inline const document::Node* at(Robot& robot, const std::string& pointer) {
    return robot.work().scene.document().find(pointer);
}

inline void select(Robot& robot, const std::string& pointer) {
    robot.work().chosen.select({pointer, -1, ""});
    robot.frames(3);
}

// Until the newest edit was tried, and was run if it could be. False after the time.
inline bool runs_what_is_edited(Robot& robot) {
    robot.frames(2);
    return robot.wait([&] {
        return robot.now().handover.revision == robot.now().handover.applied_revision &&
               robot.now().reports.activity == session::Activity::idle &&
               robot.now().run.steps_computed == robot.now().run.steps;
    });
}

inline std::int64_t last_iteration(Robot& robot) {
    const auto& history = robot.now().optimization.history;
    return history && !history->empty() ? history->back().iteration : -1;
}

// All iterations of a scene that has 30.
inline void optimize(Robot& robot, ImGuiTestContext& hands) {
    const std::int64_t before = std::max<std::int64_t>(last_iteration(robot), 0);
    hands.KeyPress(ImGuiKey_O);
    CHECK(robot.wait([&] {
        return last_iteration(robot) >= before + 30 && !robot.work().running.is_optimizing();
    }));
    robot.frames(2);
}

// Whether a message of the window has these words.
inline bool said(Robot& robot, const std::string& text) {
    return std::ranges::any_of(robot.work().messages.notices(), [&](const gui::Notice& notice) {
        return notice.text.find(text) != std::string::npos;
    });
}

// The labels of the question that is asked.
inline std::vector<std::string> answers(Robot& robot) {
    std::vector<std::string> labels;
    for (const auto& answer : robot.work().messages.question()->answers)
        labels.push_back(answer.label);
    return labels;
}

// Where a place of the scene is in the window.
inline ImVec2 on_screen(Robot& robot, ImGuiTestContext& hands, const render::Vec3& place) {
    const ImGuiTestItemInfo view = hands.ItemInfo("//###View/picture");
    const auto at = render::project(robot.work().looks.view.camera, place,
                                    robot.work().looks.view.width, robot.work().looks.view.height);
    REQUIRE(at);
    return {view.RectFull.Min.x + static_cast<float>((*at)[0]),
            view.RectFull.Min.y + static_cast<float>((*at)[1])};
}

}  // namespace hindcast::test
