// The optimization: what it does now, how well, and the buttons and settings that steer it.
#include <fmt/format.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/draw/words.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/panels/inspector_fields.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/panels/runs/checkpoints.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"

namespace hindcast::gui {

namespace {

class Optimizer final : public Panel {
public:
    Optimizer()
        : Panel("Optimizer", icon::bolt, Place::left_bottom,
                "Start, watch and steer the optimization; method and rates") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        const session::Snapshot& now = work.running.now();
        if (now.values.present_parameters().empty()) {
            empty_state(icon::lock, "Nothing may change yet",
                        "Select something and close the lock beside a number in the inspector.");
            return;
        }
        buttons(context);
        live(work.running);
        state(work);
        // In a low panel all of it scrolls together.
        const bool apart = ImGui::GetContentRegionAvail().y > px(170);
        if (!apart || ImGui::BeginChild("settings")) {
            checkpoints_.draw(work);
            heading("Method");
            edit_optimizer(work, forms_of(work.scene.registry()).schema());
        }
        if (apart) ImGui::EndChild();
    }

private:
    static void buttons(Context& context) {
        Topics& work = context.work;
        const bool runs = work.running.is_optimizing();
        const float side = ImGui::GetFrameHeight() + px(4);
        const float beside = ImGui::GetContentRegionAvail().x - 4 * (side + px(3));
        const char* const symbol = runs ? icon::pause : icon::bolt;
        const char* const word = runs ? "Pause" : "Start";
        // A line of its own where the word has no room beside the others.
        const bool narrow =
            beside < ImGui::CalcTextSize(fmt::format("{} {}", symbol, word).c_str()).x +
                         2 * ImGui::GetStyle().FramePadding.x;
        const Action& action = context.actions["optimize"];
        if (text_button(symbol, word, action.help + "\nKey: O", action.enabled(work), !runs,
                        narrow ? ImGui::GetContentRegionAvail().x : beside))
            action.run(work);
        bool first = narrow;
        for (const char* id : {"iterate", "stop", "accept", "revert"}) {
            if (!std::exchange(first, false)) ImGui::SameLine(0, px(3));
            context.actions.button(id, work);
        }
    }

    // The switch for optimizing without end, and the most iterations per second.
    static void live(Running& running) {
        session::Live wanted = running.now().optimization.live;
        bool changed = ImGui::Checkbox("Live", &wanted.on);
        tip("Goes on without end: after its iterations, and after each edit from where it stands. "
            "So a "
            "target can be moved while the answer follows");
        if (wanted.on) {
            ImGui::SameLine();
            ImGui::SetNextItemWidth(-FLT_MIN);
            auto rate = static_cast<float>(wanted.rate);
            if (ImGui::SliderFloat(
                    "##rate", &rate, 0, 120,
                    rate > 0 ? "at most %.0f a second" : "as fast as possible",
                    ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_NoRoundToFormat)) {
                wanted.rate = rate < 0.5F ? 0 : std::round(rate);
                changed = true;
            }
            tip("The most iterations per second, so that a fast optimization can be watched and "
                "steered");
        }
        if (changed) running.send(wanted);
        if (running.now().optimization.live_waits)
            wrapped_text("Waits for an edit: " + running.now().optimization.stop_reason,
                         style().palette().good);
    }

    static void state(Topics& work) {
        const session::Snapshot& now = work.running.now();
        const auto& history = now.optimization.history;
        const ImVec4 quiet = style().palette().quiet;
        if (!history || history->empty()) {
            wrapped_text(
                fmt::format(
                    "{} number{} may change. {}", entries(now.values),
                    entries(now.values) == 1 ? "" : "s",
                    !std::isnan(now.run.loss) ? "The loss is " + number_text(now.run.loss, 4) + "."
                    : now.reports.error ? "There is no loss: the run has failed, as the message in "
                                          "the bottom line says."
                                        : "The loss comes with the end of the first run."),
                quiet);
            return;
        }
        // The iteration that is shown; while it optimizes, the newest.
        const session::IterationInfo& last = history->back();
        const auto found = std::ranges::find(
            *history,
            work.running.is_optimizing() ? last.iteration : now.optimization.shown_iteration,
            &session::IterationInfo::iteration);
        const session::IterationInfo* const row = found == history->end() ? nullptr : &*found;
        const double loss = row != nullptr ? row->loss : now.run.loss;
        const std::int64_t epoch = row != nullptr ? row->epoch : now.scene.epoch;
        ImGui::PushFont(style().fonts().bold, font_size * 1.5F);
        ImGui::TextUnformatted(number_text(loss, 4).c_str());
        ImGui::PopFont();
        tip(fmt::format(
            "The loss of {}: {}",
            row != nullptr ? fmt::format("iteration {}", row->iteration) : "what is shown",
            number_text(loss, 12)));
        // Losses of different scenes say nothing about each other.
        const auto first = std::ranges::find(*history, epoch, &session::IterationInfo::epoch);
        if (first != history->end() && std::isfinite(first->loss) && first->loss != 0 &&
            std::isfinite(loss))
            change(100 * (loss / first->loss - 1));
        sparkline(*history);
        if (row != nullptr)
            quiet_text(
                now.optimization.live.on
                    ? fmt::format("iteration {}", row->iteration)
                    : fmt::format("iteration {} of {}", row->iteration,
                                  std::max(now.optimization.iterations_planned, last.iteration)));
        else
            wrapped_text(no_iteration_text(now), quiet);
        found_so_far(work, last);
        if (row != nullptr)
            wrapped_text(
                fmt::format("|gradient| {}   {} so far", number_text(row->gradient_norm, 3),
                            duration_text(last.seconds)),
                quiet);
        if (now.optimization.stop_reason.empty() || work.running.is_optimizing()) return;
        if (now.optimization.stop_reason.starts_with("converged"))
            wrapped_text(std::string(icon::check) + " C" + now.optimization.stop_reason.substr(1),
                         style().palette().good);
        else
            wrapped_text(
                "Ended: " + now.optimization.stop_reason.substr(
                                now.optimization.stop_reason.starts_with("limit: ") ? 7 : 0),
                now.optimization.stopped_well ? quiet : style().palette().warn);
    }

    static void change(double percent) {
        const std::string text = fmt::format("{:+.3g} %", percent);
        ImGui::SameLine();
        if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(text.c_str()).x)
            ImGui::NewLine();
        else
            ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(6));
        ImGui::TextColored(percent <= 0 ? style().palette().good : style().palette().bad, "%s",
                           text.c_str());
        tip("Change of the loss since the first iteration of this scene");
    }

    // The last iteration and the best one, where they differ; and the way to the best.
    static void found_so_far(Topics& work, const session::IterationInfo& last) {
        const session::Snapshot& now = work.running.now();
        const session::IterationInfo* const best = work.running.best_row();
        if (best == nullptr) return;
        if (best->iteration != last.iteration)
            wrapped_text(fmt::format("last {} in {}   best {} in {}", number_text(last.loss, 4),
                                     last.iteration, number_text(best->loss, 4), best->iteration),
                         style().palette().quiet);
        if (best->parameters && now.optimization.unaccepted &&
            text_button(
                icon::accept, fmt::format("Accept the best: {}", best->iteration),
                "Writes the parameters of the iteration with the lowest loss into the scene; "
                "can be undone"))
            work.values.accept_best();
        if (work.running.now().reports.activity == session::Activity::optimizing ||
            best->iteration == now.optimization.shown_iteration || !best->can_show)
            return;
        if (text_button(icon::target, fmt::format("Go to the best: {}", best->iteration),
                        "Shows the iteration with the lowest loss; Accept then writes its "
                        "parameters into the scene"))
            work.running.send(session::ShowIteration{best->iteration});
    }

    static std::size_t entries(const session::ValuesSnapshot& values) {
        std::size_t count = 0;
        for (const session::ParameterInfo& p : values.present_parameters()) count += p.count;
        return count;
    }

    // The loss so far, on a logarithmic scale where it is positive.
    static void sparkline(const std::vector<session::IterationInfo>& history) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const ImVec2 size{ImGui::GetContentRegionAvail().x, px(38)};
        ImGui::Dummy(size);
        double low = INFINITY, high = -INFINITY;
        for (const session::IterationInfo& i : history) {
            if (!std::isfinite(i.loss)) continue;
            low = std::min(low, i.loss);
            high = std::max(high, i.loss);
        }
        if (!(high > low) || history.size() < 2) return;
        const bool log_scale = low > 0;
        const auto level = [&](double v) { return log_scale ? std::log(v) : v; };
        ImDrawList* list = ImGui::GetWindowDrawList();
        list->PathClear();
        for (std::size_t k = 0; k < history.size(); ++k) {
            if (!std::isfinite(history[k].loss)) continue;
            const auto x = static_cast<float>(k) / static_cast<float>(history.size() - 1);
            const auto y = static_cast<float>((level(history[k].loss) - level(low)) /
                                              (level(high) - level(low)));
            list->PathLineTo({at.x + x * size.x, at.y + px(3) + (1 - y) * (size.y - px(6))});
        }
        list->PathStroke(ImGui::GetColorU32(style().palette().accent), px(1.6F));
        tip("The loss of every iteration; the Plots panel shows it with axes");
    }

    CheckpointList checkpoints_;
};

}  // namespace

std::unique_ptr<Panel> make_optimizer() { return std::make_unique<Optimizer>(); }

}  // namespace hindcast::gui
