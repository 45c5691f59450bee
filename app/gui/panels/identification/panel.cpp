// Parameters from measured data: check what the data can tell, fit, look at errors and agreement,
// accept. The work goes on beside the window, with a simulation of its own.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/identification/tables.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

namespace fs = std::filesystem;
using session::IdentificationTask;
using Phase = IdentificationTask::Progress::Phase;

class IdentificationPanel final : public Panel {
public:
    IdentificationPanel()
        : Panel("Identification", icon::target, Place::bottom,
                "Find the parameters from measured data, with their errors") {}

    bool is_busy() const override { return task_ && !ended_; }

    void update(Context& context) override {
        Topics& work = context.work;
        if (work.scene.scenes_shown() != scene_) {  // what was found belongs to another scene
            scene_ = work.scene.scenes_shown();
            task_.reset();
            validate_.clear();
            typed_.clear();
        }
        const bool fits = runs() && task_->wanted().fit;
        work.values.identification.reset();
        if (is_current(work.scene) && (fits || (finds_ && is_fitted())))
            work.values.identification = {.runs = fits,
                                          .accept = [this, &work] { return write(work.scene); }};
        if (!task_ || ended_ || !task_->ready()) return;
        ended_ = true;
        if (const auto problem = task_->problem()) return;  // the panel says it
        if (!task_->outcome() || !task_->outcome()->is_fitted()) return;
        finds_ = task_->identified().root() != task_->document()->root();
        work.messages.tell(fmt::format("Identified in {}. Accept writes the values into the scene.",
                                       duration_text(task_->progress().seconds)),
                           Notice::Kind::success);
    }

    void draw(Context& context) override {
        Topics& work = context.work;
        const std::vector<session::MeasuredFile> files =
            session::measured_files(work.scene.document());
        if (files.empty()) {
            empty_state(icon::target, "Nothing is compared with measured data",
                        "Add an objective of type \"measured\", which names a file of data.");
            return;
        }
        buttons(work);
        const std::shared_ptr<const IdentificationOutcome> outcome =
            task_ ? task_->outcome() : nullptr;
        state(work);
        if (!ImGui::BeginTabBar("parts")) return;
        const auto part = [&](const char* name, const auto& content) {
            const bool chosen = std::exchange(select_, select_ == name ? "" : select_) == name;
            if (!ImGui::BeginTabItem(name, nullptr, chosen ? ImGuiTabItemFlags_SetSelected : 0))
                return;
            if (ImGui::BeginChild("content")) content();
            ImGui::EndChild();
            ImGui::EndTabItem();
        };
        part("Data", [&] {
            data(files, outcome.get());
            say_what_is_drawn(work);
        });
        if (outcome) {
            part("Check", [&] {
                also_auxiliary(*outcome);
                draw_check(*outcome, with_all_);
            });
            if (outcome->is_fitted())
                part("Estimates", [&] {
                    also_auxiliary(*outcome);
                    draw_estimates(*outcome, with_all_);
                });
            part("Correlation", [&] {
                also_auxiliary(*outcome);
                draw_correlation(*outcome, with_all_);
            });
            part("Agreement", [&] { draw_agreement(*outcome); });
            part("Curves", [&] { draw_curves(*outcome, channel_); });
            if (!task_->progress().costs.empty())
                part("Progress", [&] { draw_costs(task_->progress()); });
        }
        ImGui::EndTabBar();
    }

private:
    bool runs() const { return task_ && !task_->ready(); }
    bool is_fitted() const {
        return task_ && task_->ready() && !task_->problem() && task_->outcome() &&
               task_->outcome()->is_fitted();
    }
    bool is_current(const EditedScene& scene) const {
        return task_ && scene.editor().document() == task_->document();
    }

    void buttons(Topics& work) {
        const bool idle = !runs();
        const bool fitted = is_fitted() && is_current(work.scene);
        if (text_button(icon::check, "Check",
                        "Which parameters the data can tell, before anything is fitted: singular "
                        "values, parameters without effect, pairs that cannot be told apart",
                        idle))
            begin(work.scene, false);
        ImGui::SameLine(0, px(3));
        if (idle) {
            if (text_button(icon::bolt, "Fit",
                            "The least sum of squared residuals, by Levenberg and Marquardt's "
                            "method with exact derivatives, in the background",
                            true, !fitted))
                begin(work.scene, true);
        } else if (text_button(icon::stop, "Stop",
                               "Ends at the next iteration, with the best found so far", true,
                               true)) {
            task_->stop();
        }
        ImGui::SameLine(0, px(10));
        ImGui::AlignTextToFramePadding();
        quiet_text("from");
        ImGui::SameLine(0, px(4));
        whole("##starts", starts_, 1, 1000,
              "Starts: the scene's values, and random ones within the bounds. The best is kept");
        ImGui::SameLine(0, px(4));
        quiet_text(starts_ == 1 ? "start, at most" : "starts, at most");
        ImGui::SameLine(0, px(4));
        whole("##iterations", iterations_, 1, 100000, "Most iterations from each start");
        ImGui::SameLine(0, px(4));
        quiet_text("iterations");
        ImGui::SameLine(0, px(10));
        if (text_button(icon::accept, "Accept",
                        is_fitted() && !fitted
                            ? "The scene was edited after the fit: fit again"
                            : "Writes the estimates into the scene, as one step of undo",
                        fitted, fitted))
            accept(work);
        ImGui::SameLine(0, px(3));
        if (text_button(icon::file, "Write report",
                        "report.html and the tables, as `hindcast identify` leaves them",
                        task_ && task_->ready() && task_->outcome() != nullptr))
            save(work);
    }

    static void whole(const char* id, int& value, double low, double high,
                      const std::string& tooltip) {
        NumberField field{.value = static_cast<double>(value),
                          .low = low,
                          .high = high,
                          .width = px(52),
                          .whole = true,
                          .tooltip = tooltip};
        if (number_field(id, field) != Edited::no) value = static_cast<int>(field.value);
    }

    void begin(const EditedScene& scene, bool fit) {
        std::vector<std::string> validate;
        const fs::path folder = scene.editor().place().parent_path();
        for (const std::string& text : validate_) {
            const auto equals = text.find('=');
            const std::string from = equals == std::string::npos ? "" : text.substr(0, equals + 1);
            const fs::path to = equals == std::string::npos ? text : text.substr(equals + 1);
            validate.push_back(from + (folder / to).string());
        }
        task_.reset();
        task_ = std::make_unique<IdentificationTask>(
            scene.editor().document(), scene.editor().place(), scene.registry(),
            session::IdentificationWanted{.fit = fit,
                                          .starts = static_cast<std::size_t>(starts_),
                                          .iterations = iterations_,
                                          .validate = std::move(validate)});
        ended_ = finds_ = false;
        select_ = fit ? "Estimates" : "Check";
    }

    // The estimates into the document, as one step of undo.
    bool write(EditedScene& scene) {
        return scene.edit([&](session::Editor& e) {
            e.replace(task_->identified(), "Accept identified parameters");
        });
    }

    void accept(Topics& work) {
        if (!write(work.scene)) return;
        work.messages.tell(
            "The identified parameters are written into the scene. Ctrl+S saves it, Ctrl+Z "
            "takes it back.",
            Notice::Kind::success);
    }

    void save(Topics& work) {
        const fs::path folder =
            work.scene.output_folder() / (work.scene.file_stem() + "_identification");
        try {
            task_->save(folder);
            work.messages.tell("Written: " + (folder / "report.html").string(),
                               Notice::Kind::success);
        } catch (const Error& error) {
            work.messages.fail(error);
        }
    }

    // The phase of the identification, or the reason why there is no result.
    void state(const Topics& work) {
        if (!task_) return;
        const IdentificationTask::Progress progress = task_->progress();
        switch (progress.phase) {
            case Phase::building: return quiet_text("Building the scene");
            case Phase::checking: return quiet_text("Running the scene and its derivatives");
            case Phase::fitting: {
                std::string text = fmt::format("Start {} of {}, iteration {}", progress.start + 1,
                                               task_->wanted().starts, progress.iteration);
                if (!progress.costs.empty() && !progress.costs.back().empty())
                    text += "   cost " + number_text(progress.costs.back().back(), 8);
                return quiet_text(text);
            }
            case Phase::ended: break;
        }
        if (const auto problem = task_->problem()) {
            wrapped_text(std::string(icon::error) + "  " + problem->what(), style().palette().bad);
            return;
        }
        if (!is_current(work.scene))
            wrapped_text("The scene was edited since: this is of the scene before.",
                         style().palette().warn);
    }

    void also_auxiliary(const IdentificationOutcome& outcome) {
        const auto count = std::ranges::count(outcome.auxiliary, true);
        if (count == 0) return;
        ImGui::Checkbox(
            fmt::format("also the {} that belong to this recording alone###all", count).c_str(),
            &with_all_);
        tip("Such as the states at the beginning of shots: another recording has its own");
    }

    // A line of words about the measured motion in the picture.
    static void say_what_is_drawn(const Topics& work) {
        if (!work.running.has_measured()) return;
        std::string text = "The measured motion is drawn pale beside the simulated one";
        const auto& drawables = work.running.now().scene.stage->drawables;
        if (std::ranges::any_of(drawables, &render::Drawable::measured_partly))
            text += "; joints that are not measured take the simulated values";
        if (!work.looks.show_measured) text += " (View, Measured motion: off)";
        wrapped_text(text + ".", style().palette().quiet);
    }

    // Files, with what is known of them.
    void data(const std::vector<session::MeasuredFile>& files,
              const IdentificationOutcome* outcome) {
        static constexpr const char* helps[] = {
            "Training data are fitted; validation data are only compared with the result",
            "The file, as the scene names it",
            "The objective that compares it",
            "Of all channels; known after a check",
            "From the first sample to the last, s",
            "By which the file's times lie behind the scene's, s"};
        if (ImGui::BeginTable("files", 6,
                              ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                  ImGuiTableFlags_SizingStretchProp)) {
            for (const char* name : {"Use", "File", "Objective", "Samples", "Duration", "Delay"})
                ImGui::TableSetupColumn(name);
            table_headers(helps);
            const std::vector<Comparison> none;
            for (const session::MeasuredFile& file : files)
                row("Training", file.file, file.objective, file.delay,
                    outcome == nullptr ? none : outcome->comparison_before);
            for (std::size_t v = 0; v < validate_.size(); ++v) {
                const bool known = outcome != nullptr && v < outcome->validations.size();
                row("Validation", validate_[v], "", "",
                    known ? outcome->validations[v].comparison : none);
                ImGui::SameLine();
                ImGui::PushID(static_cast<int>(v));
                const bool removed =
                    icon_button("remove", icon::close, "Not for validation any more");
                ImGui::PopID();
                if (removed) {
                    validate_.erase(validate_.begin() + static_cast<std::ptrdiff_t>(v));
                    break;
                }
            }
            ImGui::EndTable();
        }
        ImGui::SetNextItemWidth(px(320));
        const bool entered = ImGui::InputTextWithHint(
            "##validation", "another recording for validation: data/other.csv", &typed_,
            ImGuiInputTextFlags_EnterReturnsTrue);
        tip("A file from the scene's folder on, in place of the scene's file of data; OLD=FILE "
            "where the scene has several");
        ImGui::SameLine(0, px(3));
        if ((icon_button("add", icon::add, "Compares the result with this recording, too",
                         !typed_.empty()) ||
             entered) &&
            !typed_.empty())
            validate_.push_back(std::exchange(typed_, ""));
    }

    static void row(const char* use, const std::string& file, const std::string& objective,
                    const std::string& delay, const std::vector<Comparison>& all) {
        std::size_t samples = 0;
        double first = INFINITY, last = -INFINITY;
        for (const Comparison& one : all) {
            if (!objective.empty() && one.owner != objective) continue;
            samples += one.times.size();
            for (const double time : one.times) {
                first = std::min(first, time);
                last = std::max(last, time);
            }
        }
        ImGui::TableNextRow();
        for (const std::string& text :
             {std::string(use), file, objective, samples > 0 ? std::to_string(samples) : "-",
              samples > 0 ? number_text(last - first, 5) + " s" : "-", delay}) {
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(text.c_str());
        }
    }

    std::unique_ptr<IdentificationTask> task_;
    bool ended_ = true;   // and it was said
    bool finds_ = false;  // other values than the scene has
    std::uint64_t scene_ = 0;
    int starts_ = 1, iterations_ = 100;
    bool with_all_ = false;
    std::vector<std::string> validate_;
    std::string typed_, channel_, select_;
};

}  // namespace

std::unique_ptr<Panel> make_identification() { return std::make_unique<IdentificationPanel>(); }

}  // namespace hindcast::gui
