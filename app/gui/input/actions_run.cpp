// The actions of time and of the optimization.
#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"

namespace hindcast::gui {

using session::Optimize;

namespace {

bool can_optimize(const Topics& w) {
    return shows_run(w) && !w.running.now().values.present_parameters().empty();
}
bool has_history(const Topics& w) {
    return shows_run(w) && w.running.now().optimization.history &&
           !w.running.now().optimization.history->empty();
}

// To another of the iterations that are kept.
void show_iteration(Running& running, std::ptrdiff_t by) {
    const auto& rows = *running.now().optimization.history;
    const std::int64_t shown = running.now().optimization.shown_iteration,
                       from = shown < 0 ? rows.back().iteration : shown;
    const auto at = std::ranges::lower_bound(rows, from, {}, &session::IterationInfo::iteration);
    const auto next = std::clamp<std::ptrdiff_t>(at - rows.begin() + by, 0, std::ssize(rows) - 1);
    running.send(session::ShowIteration{rows[static_cast<std::size_t>(next)].iteration});
}

}  // namespace

std::vector<Action> simulation_actions() {
    return {
        {.id = "play",
         .menu = "Simulation",
         .icon = icon::play,
         .name = "Play or pause",
         .key = ImGuiKey_Space,
         .help = "Moves through simulated time at the speed chosen beside",
         .enabled = shows_run,
         .run = [](Topics& w) { w.running.play(!w.running.now().run.playing); },
         .checked = [](const Topics& w) { return w.running.now().run.playing; },
         .ticked_icon = icon::pause},
        {"step_back",
         "Simulation",
         icon::step_back,
         "Step back",
         ImGuiKey_LeftArrow,
         "One step of simulated time back",
         shows_run,
         [](Topics& w) { w.running.send(session::StepBy{-1}); },
         {},
         true},
        {"step",
         "Simulation",
         icon::step_forward,
         "Step",
         ImGuiKey_RightArrow,
         "One step of simulated time on",
         shows_run,
         [](Topics& w) { w.running.send(session::StepBy{1}); },
         {},
         true},
        {"home", "Simulation", icon::start, "To the start", ImGuiKey_Home, "Time 0", shows_run,
         [](Topics& w) { w.running.send(session::Seek{0}); }, nullptr},
        {"end", "Simulation", icon::end, "To the end", ImGuiKey_End, "The last step", shows_run,
         [](Topics& w) { w.running.send(session::Seek{w.running.now().run.steps}); }, nullptr},
        {"reset",
         "Simulation",
         icon::undo,
         "Reset",
         ImGuiKey_R,
         "Time 0 and the parameters of the scene file; the iterations so far can still be scrubbed",
         shows_run,
         [](Topics& w) { w.running.send(session::Reset{}); },
         {},
         false,
         true},
    };
}

std::vector<Action> optimize_actions() {
    const auto optimizing = [](const Topics& w) {
        return shows_run(w) && w.running.is_optimizing();
    };
    return {
        {"optimize", "Optimize", icon::bolt, "Optimize", ImGuiKey_O,
         "Changes the parameters, iteration by iteration, so that the loss falls; again: pause",
         can_optimize,
         [](Topics& w) {
             w.running.optimize(w.running.is_optimizing() ? Optimize::What::pause
                                                          : Optimize::What::start);
         },
         optimizing},
        {"iterate",
         "Optimize",
         icon::one,
         "One iteration",
         ImGuiMod_Shift | ImGuiKey_O,
         "One update of the parameters",
         can_optimize,
         [](Topics& w) { w.running.optimize(Optimize::What::one); },
         {}},
        {"stop",
         "Optimize",
         icon::stop,
         "Stop",
         0,
         "Ends the optimization; the next start begins with a fresh optimizer",
         optimizing,
         [](Topics& w) { w.running.optimize(Optimize::What::stop); },
         {}},
        {"previous_iteration",
         "Optimize",
         nullptr,
         "Iteration before",
         ImGuiKey_Comma,
         "Shows the iteration before the one shown",
         has_history,
         [](Topics& w) { show_iteration(w.running, -1); },
         {},
         true,
         true},
        {"next_iteration",
         "Optimize",
         nullptr,
         "Next iteration",
         ImGuiKey_Period,
         "Shows the iteration after the one shown",
         has_history,
         [](Topics& w) { show_iteration(w.running, 1); },
         {},
         true},
        {"newest",
         "Optimize",
         nullptr,
         "Newest iteration",
         ImGuiMod_Shift | ImGuiKey_Period,
         "Shows the scene as it is now, and each iteration as it comes",
         has_history,
         [](Topics& w) { w.running.send(session::ShowIteration{}); },
         {}},
        {"ghost", "Optimize", icon::ghost, "Ghost of this iteration", ImGuiMod_Shift | ImGuiKey_G,
         "The shown iteration stays in the picture, pale, beside the others; again: takes it away",
         has_history,
         [](Topics& w) {
             if (w.running.now().optimization.ghost_iteration >= 0)
                 w.running.send(session::Ghost{});
             else
                 w.running.send(session::Ghost{w.running.now().optimization.shown_iteration});
         },
         [](const Topics& w) { return w.running.now().optimization.ghost_iteration >= 0; }},
        {"branch",
         "Optimize",
         icon::branch,
         "Branch from here",
         ImGuiKey_B,
         "Goes on from the shown iteration's parameters with a fresh optimizer; one from before an "
         "edit brings its scene back, which can be undone",
         has_history,
         [](Topics& w) { w.values.branch(w.running.now().optimization.shown_iteration); },
         {}},
        {.id = "accept",
         .menu = "Optimize",
         .icon = icon::accept,
         .name = "Accept",
         .key = ImGuiMod_Ctrl | ImGuiKey_Enter,
         .help = "Writes the shown iteration's parameters into the scene; can be undone. One from "
                 "before an edit is branched from first (B)",
         .enabled = has_history,
         .run = [](Topics& w) { w.values.accept(); },
         .checked = {},
         .starts_group = true,
         .yields_to_text = true},
        {"revert",
         "Optimize",
         icon::undo,
         "Revert",
         0,
         "Back to the parameters that the scene file has",
         has_history,
         [](Topics& w) { w.running.send(session::Revert{}); },
         {}},
        {"check",
         "Optimize",
         icon::check,
         "Check the gradient",
         0,
         "Compares the gradient with finite differences of the loss",
         can_optimize,
         [](Topics& w) {
             w.running.send(session::CheckGradient{});
             w.requests.focus_panel = "Gradient check";
         },
         {},
         false,
         true},
    };
}

}  // namespace hindcast::gui
