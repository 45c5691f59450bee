// The inspector's numbers and their menu, parameters and groups, plots and the table of launches,
// by mouse and keyboard.
#include <doctest/doctest.h>
#include <imgui_internal.h>
#include <implot.h>
#include <implot_internal.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::at;
using test::last_iteration;
using test::open;
using test::Robot;
using test::runs_what_is_edited;
using test::select;
using test::stop_at;

namespace {

void optimize(Robot& robot) {
    robot.work().running.optimize(session::Optimize::What::start);
    REQUIRE(robot.wait(
        [&] { return last_iteration(robot) >= 30 && !robot.work().running.is_optimizing(); }));
    robot.frames(3);
}

// The plot of the panel; there is one.
ImPlotPlot& shown_plot() {
    ImPool<ImPlotPlot>& plots = ImPlot::GetCurrentContext()->Plots;
    REQUIRE(plots.GetAliveCount() >= 1);
    ImPlotPlot* found = nullptr;
    for (int k = 0; k < plots.GetMapSize(); ++k)
        if (ImPlotPlot* plot = plots.TryGetMapData(k);
            plot != nullptr && plot->Items.GetItemCount() > 0)
            found = plot;
    REQUIRE(found != nullptr);
    return *found;
}

std::vector<std::string> curves_shown() {
    std::vector<std::string> names;
    ImPlotPlot& plot = shown_plot();
    for (int k = 0; k < plot.Items.GetLegendCount(); ++k)
        names.emplace_back(plot.Items.GetLegendLabel(k));
    return names;
}

void menu_on(Robot& robot, ImGuiTestContext& hands, const std::string& item) {
    hands.MouseMove(item.c_str());
    hands.MouseClick(ImGuiMouseButton_Right);
    robot.frames(2);
}

// An item of the menu that is open; "" in front of it: enabled.
bool is_enabled(ImGuiTestContext& hands, const std::string& item) {
    return (hands.ItemInfo(("//$FOCUSED/" + item).c_str()).ItemFlags & ImGuiItemFlags_Disabled) ==
           0;
}

}  // namespace

TEST_CASE("gui editing: the text button shows the file, \"Plot it\" the plot; the filter goes") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().requests.focus_panel = "Plots";
        optimize(robot);
        select(robot, "/forces/0");
        // A right click on a field's name leads to it in the text. The plot stays.
        const ImRect form = hands.ItemInfo("//###Inspector/connect/##form").RectFull;
        hands.MouseMoveToPos({form.Min.x - 80, form.GetCenter().y});
        hands.MouseClick(ImGuiMouseButton_Right);
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/Show it in the text");
        robot.frames(3);
        // The text has taken it (where it stands: tests/gui/text), and is in front.
        CHECK(robot.work().chosen.object.pointer == "/forces/0");
        CHECK(robot.work().chosen.object.field.empty());
        const bool in_front = ImGui::FindWindowByName("###Scene file")->DockTabIsVisible;
        CHECK(in_front);
        CHECK(curves_shown() == std::vector<std::string>{"loss"});

        menu_on(robot, hands, "//###Inspector/**/cage.rest_length/###list");
        hands.ItemClick("//$FOCUSED/Plot it");
        robot.frames(4);
        CHECK(curves_shown().size() == 8);
        CHECK(curves_shown().front() == "cage.rest_length[0]");
        CHECK(std::string(shown_plot().GetAxisLabel(shown_plot().Axes[ImAxis_Y1])) == "value (m)");
        robot.picture("plot_it");
        // One number of the list.
        hands.ItemClick("//###Inspector/**/cage.rest_length/###list");
        robot.frames(2);
        // They are generated ("initial"), so what is there is no field: the fourth line below.
        const ImRect top = hands.ItemInfo("//###Inspector/**/cage.rest_length/###list").RectFull;
        hands.MouseMoveToPos(
            {top.Min.x + 5, top.GetCenter().y + 4 * ImGui::GetFrameHeightWithSpacing()});
        robot.frames(40);
        robot.picture("generated");
        hands.MouseClick(ImGuiMouseButton_Right);
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/Plot it");
        robot.frames(4);
        CHECK(curves_shown() == std::vector<std::string>{"cage.rest_length[3]"});
        robot.picture("plot_one");
        // The filter is a button: a click takes it away.
        hands.ItemClick("//###Plots/###cage.rest_length[3]");
        robot.frames(3);
        CHECK(curves_shown().size() == 8);
        hands.ItemClick("//###Plots/Loss");
        robot.frames(3);
        CHECK(curves_shown() == std::vector<std::string>{"loss"});
    });
}

TEST_CASE("gui editing: the menu is that of the number under the mouse, and says what it needs") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");  // optimizes ball.velocity
        stop_at(robot, 0);
        select(robot, "/bodies/0");
        robot.picture("vector");
        menu_on(robot, hands, "//###Inspector/**/ball.velocity/$$2/##value");
        robot.picture("entry_menu");
        hands.ItemClick("//$FOCUSED/Sweep it");
        REQUIRE(robot.wait(
            [&] { return robot.now().tools.landscape && robot.now().tools.landscape->done; }));
        CHECK(robot.now().tools.landscape->names[0] == "ball.velocity.z");

        // Not optimized: why, and what to do about it.
        menu_on(robot, hands, "//###Inspector/**/ball.mass/##value");
        CHECK_FALSE(is_enabled(hands, "Sweep it"));
        CHECK_FALSE(is_enabled(hands, "Plot it"));
        hands.MouseMove("//$FOCUSED/Sweep it", ImGuiTestOpFlags_NoCheckHoveredId);
        robot.frames(60);
        robot.picture("entry_menu_disabled");
        hands.ItemClick("//$FOCUSED/Optimize it");
        robot.frames(2);
        CHECK(robot.work().scene.editor().undo_name() == "Optimize ball.mass");
        CHECK(robot.wait([&] { return robot.now().values.parameters.size() == 2; }));
        menu_on(robot, hands, "//###Inspector/**/ball.mass/##value");
        CHECK(is_enabled(hands, "Sweep it"));
        hands.ItemClick("//$FOCUSED/Take out of the optimization");
        robot.frames(2);
        CHECK(at(robot, "/parameters")->size() == 1);

        // A parameter that leaves a component out.
        robot.work().scene.set("/parameters/0/components",
                               document::Node::array({document::Node("x")}), "Components");
        CHECK(robot.wait([&] { return robot.now().values.parameters.at(0).names.size() == 1; }));
        robot.frames(2);
        menu_on(robot, hands, "//###Inspector/**/ball.velocity/$$2/##value");
        CHECK_FALSE(is_enabled(hands, "Sweep it"));
        hands.KeyPress(ImGuiKey_Escape);
        menu_on(robot, hands, "//###Inspector/**/ball.velocity/$$0/##value");
        CHECK(is_enabled(hands, "Sweep it"));
        hands.KeyPress(ImGuiKey_Escape);
    });
}

TEST_CASE("gui editing: parameters and their groups, from the tree to the inspector and back") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "slingshot.json");
        stop_at(robot, 0);
        hands.ItemClick("//###Scene/###Add");
        robot.frames(2);
        hands.MouseMove("//$FOCUSED/Parameters");
        robot.frames(30);
        robot.picture("add_parameter");
        hands.ItemClick("//###Menu_00/strap.stiffness");
        robot.frames(3);
        CHECK(at(robot, "/parameters/2/path")->string() == "strap.stiffness");
        CHECK(robot.work().chosen.object.pointer == "/parameters/2");
        CHECK(runs_what_is_edited(robot));
        REQUIRE_FALSE(robot.now().reports.error);

        // Its bounds, beside what the module allows: at least 0.
        hands.ItemClick("//###Inspector/**/bounds/$$1/##bound");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("5000");
        robot.frames(2);
        CHECK(document::to_line(*at(robot, "/parameters/2/bounds")) == "[0.0, 5000.0]");
        CHECK(runs_what_is_edited(robot));
        const auto bounds = [&] {
            const auto& all = robot.now().values.parameters;
            const auto p = std::ranges::find(all, "strap.stiffness", &session::ParameterInfo::path);
            return std::pair(p->low, p->high);
        };
        CHECK(robot.wait([&] { return bounds() == std::pair(0.0, 5000.0); }));
        robot.picture("parameter");

        // A group of it, with another parameter, a name and a factor.
        hands.ItemClick("//###Inspector/**/\xef\x81\xa7##new_group");
        robot.frames(3);
        CHECK(robot.work().chosen.object.pointer == "/optimizer/groups/group");
        hands.ItemClick("//###Inspector/**/bands.stiffness##0");
        CHECK(at(robot, "/parameters/0/group")->string() == "group");
        hands.ItemClick("//###Inspector/##name");
        hands.KeyCharsReplaceEnter("stiff");
        robot.frames(3);
        CHECK(robot.work().chosen.object.pointer == "/optimizer/groups/stiff");
        hands.ItemClick("//###Inspector/##rate");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("0.5");
        robot.frames(3);
        CHECK(at(robot, "/optimizer/groups/stiff/rate")->real() == 0.5);
        CHECK(robot.work().scene.editor().undo_name() == "Rate of stiff");
        CHECK(runs_what_is_edited(robot));
        REQUIRE_FALSE(robot.now().reports.error);
        CHECK(robot.wait([&] {
            return std::ranges::count(robot.now().values.parameters, "stiff",
                                      &session::ParameterInfo::group) == 2;
        }));
        robot.picture("group");

        // Ctrl+D on a whole parameter says why there is no copy.
        select(robot, "/parameters/2");
        const auto document = robot.work().scene.editor().document();
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
        robot.frames(2);
        CHECK(robot.work().scene.editor().document() == document);
        REQUIRE_FALSE(robot.work().messages.notices().empty());
        CHECK(robot.work().messages.notices().back().text.find("strap.stiffness") !=
              std::string::npos);
        // Delete takes it out; the group stays with the other one, until that goes as well.
        hands.KeyPress(ImGuiKey_Delete);
        robot.frames(2);
        CHECK(at(robot, "/parameters")->size() == 2);
        CHECK(at(robot, "/optimizer/groups/stiff") != nullptr);
        select(robot, "/optimizer/groups/stiff");
        hands.KeyPress(ImGuiKey_Delete);
        robot.frames(2);
        CHECK(at(robot, "/optimizer/groups") == nullptr);
        CHECK(at(robot, "/parameters/0/group") == nullptr);
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        while (robot.work().scene.editor().can_undo())
            robot.work().scene.edit([](session::Editor& e) { e.undo(); });
        CHECK_FALSE(robot.work().scene.editor().unsaved());
    });
}

TEST_CASE("gui editing: components and elements of a parameter") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        stop_at(robot, 0);
        select(robot, "/parameters/0");
        hands.ItemClick("//###Inspector/**/components/y");
        robot.frames(2);
        CHECK(document::to_line(*at(robot, "/parameters/0/components")) == "[\"x\", \"z\"]");
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] {
            return robot.now().values.parameters.at(0).names ==
                   std::vector<std::string>{"ball.velocity.x", "ball.velocity.z"};
        }));
        // The copy is of the component that is left.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
        robot.frames(2);
        CHECK(robot.work().chosen.object.pointer == "/parameters/1");
        CHECK(document::to_line(*at(robot, "/parameters/1/components")) == "[\"y\"]");
        CHECK(robot.wait([&] { return robot.now().values.parameters.size() == 2; }));
        CHECK_FALSE(robot.now().reports.error);
    });
}

TEST_CASE("gui editing: plots say what is left out, and zoom, move and fit again") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        // 3 x 8 numbers of the springs and 3 of the ball: 27.
        robot.work().scene.set("/parameters",
                               document::Document::parse(R"([{"path": "cage.rest_length"},
                {"path": "cage.stiffness", "per": "element"},
                {"path": "cage.damping", "per": "element"}, {"path": "ball.velocity"}])")
                                   .root(),
                               "More parameters");
        REQUIRE(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision &&
                   robot.now().values.parameters.size() == 4;
        }));
        REQUIRE_FALSE(robot.now().reports.error);
        robot.work().requests.focus_panel = "Plots";
        optimize(robot);
        hands.ItemClick("//###Plots/Parameters");
        robot.frames(4);
        CHECK(curves_shown().size() == 24);
        CHECK(std::ranges::count(curves_shown(), "cage.stiffness[7] (N/m)") == 1);
        robot.picture("plots_many");
        hands.ItemClick("//###Plots/##filter");
        hands.KeyCharsReplace("velocity");
        robot.frames(3);
        CHECK(curves_shown() ==
              std::vector<std::string>{"ball.velocity.x", "ball.velocity.y", "ball.velocity.z"});
        CHECK(std::string(shown_plot().GetAxisLabel(shown_plot().Axes[ImAxis_Y1])) ==
              "value (m/s)");
        CHECK(ImPlot::GetColormapName(ImPlot::GetStyle().Colormap) == std::string("Okabe-Ito"));

        hands.ItemClick("//###Plots/Loss");
        robot.frames(4);
        const auto range = [] { return shown_plot().Axes[ImAxis_X1].Range; };
        const ImPlotRange all = range();
        CHECK(all.Min <= 0);
        CHECK(all.Max >= 30);
        const ImRect area = shown_plot().PlotRect;
        hands.MouseMoveToPos(area.GetCenter());
        for (int k = 0; k < 5; ++k) hands.MouseWheelY(1);
        robot.frames(3);
        const ImPlotRange near = range();
        CHECK(near.Size() < 0.8 * all.Size());
        robot.picture("plots_zoomed");
        // Half of the width is half of the range; the zoom stays while nothing is fitted.
        hands.MouseDragWithDelta({-area.GetWidth() / 4, 0});
        robot.frames(3);
        CHECK(range().Min == doctest::Approx(near.Min + near.Size() / 4).epsilon(0.02));
        CHECK(range().Size() == doctest::Approx(near.Size()));
        // A click goes to the iteration under it; a drag went nowhere.
        CHECK(robot.now().optimization.shown_iteration == 30);
        const double wanted = range().Min + range().Size() / 2;
        hands.MouseMoveToPos(area.GetCenter());
        hands.MouseClick();
        CHECK(robot.wait([&] {
            return robot.now().optimization.shown_iteration ==
                   std::clamp<std::int64_t>(std::llround(wanted), 0, 30);
        }));
        hands.MouseDoubleClick();
        robot.frames(4);
        CHECK(range().Min == doctest::Approx(all.Min));
        CHECK(range().Max == doctest::Approx(all.Max));
        for (int k = 0; k < 5; ++k) hands.MouseWheelY(1);
        robot.frames(3);
        CHECK(range().Size() < 0.8 * all.Size());
        hands.ItemClick("//###Plots/\xef\x81\x9b##fit");
        robot.frames(4);
        CHECK(range().Size() == doctest::Approx(all.Size()));
    });
}

TEST_CASE("gui editing: the table of launches is sorted by each of its columns") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "slingshot.json");
        robot.work().running.send(session::Profile{true});
        robot.work().requests.focus_panel = "Launches";
        robot.work().running.optimize(session::Optimize::What::start);
        REQUIRE(robot.wait(
            [&] { return last_iteration(robot) >= 1 && !robot.now().tools.launches.empty(); }));
        robot.work().running.optimize(session::Optimize::What::stop);
        robot.work().running.play(false);
        REQUIRE(robot.wait([&] {
            return !robot.work().running.is_optimizing() &&
                   robot.now().reports.activity == session::Activity::idle &&
                   !robot.now().run.playing;
        }));
        robot.frames(10);
        const auto launches = robot.now().tools.launches;
        REQUIRE(launches.size() > 3);
        robot.picture("launches");
        // From the top of the table to the bottom.
        const auto order = [&] {
            std::vector<std::pair<float, const session::LaunchInfo*>> rows;
            for (const session::LaunchInfo& l : launches) {
                const ImGuiTestItemInfo info = hands.ItemInfo(
                    ("//###Launches/**/" + l.name + "##" + name_of(l.direction)).c_str(),
                    ImGuiTestOpFlags_NoError);
                if (info.ID != 0) rows.emplace_back(info.RectFull.Min.y, &l);
            }
            std::ranges::sort(rows);
            std::vector<const session::LaunchInfo*> list;
            for (const auto& [y, l] : rows) list.push_back(l);
            return list;
        };
        const auto bandwidth = [](const session::LaunchInfo& l) {
            return l.seconds > 0 ? l.bytes * static_cast<double>(l.runs) / l.seconds : 0;
        };
        const auto bytes = [](const session::LaunchInfo& l) { return l.bytes; };
        const auto seconds = [](const session::LaunchInfo& l) { return l.seconds; };
        const auto runs = [](const session::LaunchInfo& l) { return static_cast<double>(l.runs); };
        const auto sorted = [&](const std::string& header, int column, auto&& key) {
            CAPTURE(header);
            hands.ItemClick(
                ("//###Launches/**/$$" + std::to_string(column) + "/" + header).c_str());
            robot.frames(4);
            const auto rows = order();
            REQUIRE(rows.size() > 2);  // those in sight: the first of all
            std::vector<double> expected;
            for (const session::LaunchInfo& l : launches) expected.push_back(key(l));
            std::ranges::sort(expected, std::greater());
            for (std::size_t k = 0; k < rows.size(); ++k) CHECK(key(*rows[k]) == expected[k]);
        };
        sorted("GB\\/s", 7, bandwidth);
        sorted("Bytes", 6, bytes);
        sorted("Share", 5, seconds);
        sorted("Runs", 2, runs);
    });
}

TEST_CASE("gui editing: revert brings the scene's parameters back, and is no edit") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        REQUIRE(
            robot.wait([&] { return robot.now().run.steps_computed == robot.now().run.steps; }));
        const std::vector<double> written = *robot.now().values.flat;
        const double loss = robot.now().run.loss;
        optimize(robot);
        REQUIRE(*robot.now().values.flat != written);
        const auto reverted = [&](const std::vector<double>& values) {
            hands.ItemClick("//###Optimizer/\xef\x83\xa2##revert");
            return robot.wait([&] {
                return robot.now().values.flat && *robot.now().values.flat == values &&
                       robot.now().optimization.shown_iteration < 0 &&
                       robot.now().run.steps_computed == robot.now().run.steps;
            });
        };
        robot.work().requests.focus_panel = "Optimizer";
        robot.frames(3);
        CHECK(reverted(written));
        CHECK(robot.now().run.loss == loss);
        CHECK_FALSE(robot.work().scene.editor().can_undo());
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        // What was found is not lost: its iterations are there, and are accepted from there.
        robot.work().running.send(session::ShowIteration{30});
        REQUIRE(robot.wait([&] {
            return robot.now().optimization.shown_iteration == 30 &&
                   robot.now().run.steps_computed == robot.now().run.steps;
        }));
        const std::vector<double> found = *robot.now().values.flat;
        CHECK(found != written);
        robot.work().values.accept();
        REQUIRE(robot.wait([&] { return robot.work().scene.editor().can_undo(); }));
        CHECK(robot.work().scene.editor().undo_name() == "Accept iteration 30");
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        // Now the scene has these; with Ctrl+Z it has the first ones, and revert goes there.
        CHECK(reverted(found));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        CHECK(reverted(written));
        CHECK(robot.now().run.loss == loss);
    });
}

TEST_CASE("gui editing: the energies of a run are plotted, and their sum") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "soft_beam.json");
        REQUIRE(runs_what_is_edited(robot));
        robot.work().requests.focus_panel = "Plots";
        robot.frames(3);
        hands.ItemClick("//###Plots/Energy");
        robot.frames(4);
        CHECK(curves_shown() == std::vector<std::string>{"elastic energy of beam",
                                                         "gravitational energy", "kinetic energy",
                                                         "sum of energies"});
        CHECK(std::string(shown_plot().GetAxisLabel(shown_plot().Axes[ImAxis_Y1])) == "energy (J)");
        robot.picture("plots_energy");
        // A field has one as well.
        open(robot, "wave_image.json");
        REQUIRE(runs_what_is_edited(robot));
        robot.frames(4);
        CHECK(curves_shown() == std::vector<std::string>{"wave energy of membrane"});
        robot.picture("plots_wave_energy");
    });
}

TEST_CASE("gui editing: no button of the plots is cut, with large text neither") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().running.play(false);
        optimize(robot);
        for (const double scale : {1.0, 1.5}) {
            robot.work().settings.font_scale = scale;
            robot.work().settings.save();
            const std::string tail = scale > 1 ? "_large" : "";
            for (const char* panel : {"Objective", "Optimizer", "Plots", "Launches"}) {
                robot.work().requests.focus_panel = panel;
                robot.frames(4);
            }
            for (const char* pointer :
                 {"", "/forces/0", "/bodies/0", "/parameters/0", "/optimizer", "/objective/0"}) {
                select(robot, pointer);
                robot.work().requests.focus_panel = "Plots";
                robot.frames(3);
                std::string name = std::string("text") + pointer + tail;
                std::ranges::replace(name, '/', '_');
                robot.picture(name);
            }
            for (const char* button : {"Loss", "Gradient", "Parameters", "Energy", "Adjoint norm",
                                       "CSV", "SVG", "PNG"}) {
                CAPTURE(std::string(button));
                const ImGuiTestItemInfo info =
                    hands.ItemInfo((std::string("//###Plots/") + button).c_str());
                CHECK(info.RectFull.GetWidth() > ImGui::CalcTextSize(button).x);
                CHECK(info.RectClipped.GetWidth() == info.RectFull.GetWidth());
                CHECK(info.RectClipped.GetHeight() == info.RectFull.GetHeight());
            }
            robot.work().requests.focus_panel = "Objective";
            robot.frames(4);
            robot.picture("text_objective_panel" + tail);
        }
        robot.work().settings.font_scale = 1;
        robot.work().settings.save();
    });
}
