// Pictures and films of time or of iterations. One picture is made for each frame of the window, so
// that the window stays usable and the export can be canceled. A picture is the view alone, at a
// size of its own, or the whole window with its panels: then one more frame is drawn without this
// dialog, which the screen does not show.
#include "app/gui/window/export.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <tuple>
#include <vector>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/window/export_plan.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/view/camera_track.hpp"
#include "app/gui/work/view/looks.hpp"
#include "app/render/output/png.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

namespace {

using Plan = Exporter::Plan;

// The film is made when its first picture's size is known.
void add(Plan& plan, const render::Image& image) {
    if (plan.kind == "One picture") {
        render::write_png(plan.target, image);
    } else if (plan.kind == "PNG sequence") {
        render::write_png(plan.target / fmt::format("{:05}.png", plan.next), image);
    } else {
        if (!plan.film)
            plan.film = std::make_unique<render::Video>(plan.target, image.width, image.height,
                                                        plan.frames_per_second);
        plan.film->offer(image);
    }
    ++plan.next;
}

void begin(Plan& plan, Topics& work) {
    const session::Snapshot& now = work.running.now();
    try {
        fs::create_directories(plan.kind == "PNG sequence" ? plan.target : fs::path(plan.folder));
        if (plan.kind == "PNG sequence")  // more than the new ones would stay among them
            for (const fs::path& old : pictures_in(plan.target)) fs::remove(old);
    } catch (const std::exception& error) {
        work.messages.fail(error);
        return;
    }
    plan.running = true;
    plan.next = 0;
    plan.asked = -1;
    plan.before = now.run.step;
    plan.camera_before = work.looks.view.camera;
    work.camera.follows = false;
    if (plan.kind == "One picture") {
        plan.count = 1;
        return;  // of what is shown
    }
    plan.iteration_before = now.optimization.shown_iteration;
    plan.positions = positions_of(plan, work);
    plan.count = static_cast<std::int64_t>(plan.positions.size());
    if (plan.count == 0) {
        plan.running = false;
        work.messages.fail(
            Error("there are no iterations to make pictures of").remedy("optimize first"));
        return;
    }
    work.running.play(false);
}

void start(Plan& plan, Topics& work) {
    if (work.scene.is_bundled(plan.folder)) {
        work.messages.fail(
            Error("the folder of the bundled scenes is not written to: " + plan.folder)
                .remedy("choose another folder"));
        return;
    }
    const auto begin_at = [&plan, &work](const fs::path& target) {
        if (is_motion(plan)) {
            plan.motion.start(work, plan.kind, target);
            return;
        }
        plan.target = target;
        begin(plan, work);
    };
    const fs::path target = target_of(plan, work.scene.file_stem());
    if (!is_there_already(plan, target)) {
        begin_at(target);
        return;
    }
    fs::path other = target;
    for (int k = 2; is_there_already(plan, other); ++k)
        other = target_of(plan, fmt::format("{}_{}", work.scene.file_stem(), k));
    work.messages.ask({"Replace what is there?",
                       target.filename().string() + " is there already.",
                       target.string(),
                       {{"Keep both", "Writes " + other.filename().string() + " beside it",
                         [begin_at, other] { begin_at(other); }},
                        {"Replace", "Writes over it", [begin_at, target] { begin_at(target); }},
                        {"Cancel", "Nothing is written", [] {}}}});
}

// All pictures are made, or none is wanted any more: the window is the user's again.
void give_back(Plan& plan, Topics& work) {
    plan.capturing = false;
    plan.offscreen.reset();
    work.looks.view.camera = plan.camera_before;
    if (plan.kind == "One picture") return;
    if (plan.axis == iterations && plan.iteration_before >= 0)
        work.running.send(session::ShowIteration{plan.iteration_before});
    work.running.send(session::Seek{plan.before});
}

void stop(Plan& plan, Topics& work) {
    if (!plan.ending) give_back(plan, work);
    plan.running = plan.ending = false;
}

void finish(Plan& plan, Context& context, bool whole) {
    Topics& work = context.work;
    stop(plan, work);
    if (!whole) {
        plan.film.reset();
        work.messages.tell(is_film(plan) ? std::string("Export canceled")
                                         : fmt::format("Export canceled; {} pictures are in {}",
                                                       plan.next, plan.target.string()));
        return;
    }
    plan.film.reset();
    work.messages.tell("Exported " + plan.target.string(), Notice::Kind::success);
}

void fail(Plan& plan, Context& context, const std::exception& error) {
    stop(plan, context.work);
    plan.film.reset();
    context.work.messages.fail(error);
}

// True if the moment of the next picture is shown; asks for that moment.
bool is_there(Plan& plan, Context& context) {
    if (plan.kind == "One picture") return true;
    Topics& work = context.work;
    const std::int64_t wanted = plan.positions[static_cast<std::size_t>(plan.next)];
    const bool time = plan.axis != iterations;
    if (plan.asked != wanted) {
        plan.asked = wanted;
        plan.asked_at = ImGui::GetTime();
        if (time)
            work.running.send(session::Seek{wanted});
        else
            work.running.send(session::ShowIteration{wanted});
        return false;
    }
    // A long run keeps only every n-th frame: the last one before the moment is shown.
    const session::Snapshot& now = work.running.now();
    const std::int64_t step = time ? wanted : plan.before;
    const render::Frame* frame = context.picture.frame();
    if (frame != nullptr && frame->step <= step && step - frame->step < now.run.frame_every &&
        work.looks.colors.is_settled(now.view) && (time || frame->iteration == wanted))
        return true;
    constexpr double patience = 20;  // s, while nothing is computed
    if (now.reports.activity != session::Activity::idle) plan.asked_at = ImGui::GetTime();
    if (ImGui::GetTime() > plan.asked_at + patience)
        throw Error(
            fmt::format("the picture of {} {} did not come", time ? "step" : "iteration", wanted))
            .remedy(now.reports.error ? now.reports.error->what() : "simulate to the end first");
    return false;
}

// Along iterations the whole path is gone during the film.
void move_camera(Plan& plan, Topics& work) {
    const session::CameraPath& path = work.camera.path();
    if (!plan.along_path || path.empty()) return;
    double time = work.running.shown_time();
    if (plan.kind != "One picture" && plan.axis == iterations) {
        const double first = path.keys().front().time, last = path.keys().back().time;
        time = first + (last - first) * static_cast<double>(plan.next) /
                           static_cast<double>(std::max<std::int64_t>(plan.count - 1, 1));
    }
    work.looks.view.camera = path.at(time);
}

render::Image picture_of_view(Plan& plan, Context& context) {
    Topics& work = context.work;
    render::View view = work.looks.view;
    view.width = plan.width;
    view.height = plan.height;
    const bool any = work.looks.show_labels || work.looks.show_time ||
                     !work.looks.colors.by.empty() || !work.looks.distances.empty();
    if (!plan.labels || !any) return context.picture.image(view);
    if (!plan.offscreen)
        plan.offscreen = std::make_unique<OffscreenCanvas>(
            context.picture.vulkan(), work.settings.dark,
            OffscreenCanvas::scale_for(plan.height) * work.settings.font_scale);
    const render::Stage* const stage = context.picture.stage();
    return plan.offscreen->annotated(context.picture.renderer(), view, [&](ImVec2 at) {
        std::string problem;
        if (const render::Frame* frame = context.picture.frame();
            frame != nullptr && stage != nullptr)
            draw_distances(
                at, view.width, view.height, view.camera,
                distances_in(
                    work.looks.distances, *stage, *frame,
                    [&](std::int64_t point) { return context.picture.point(point); }, problem),
                stage->dimension);
        if (work.looks.show_labels && stage != nullptr)
            draw_names(at, view.width, view.height, view.camera,
                       names_in(context.picture.renderer(), *stage, work.scene.document(),
                                work.scene.registry()));
        if (!work.looks.colors.by.empty())
            draw_color_bar(at, view.width, view.height,
                           {color_title(work.running.now().view.colors, work.looks.colors.by),
                            view.range ? *view.range : context.picture.color_range(), view.map,
                            view.log_colors, work.looks.colors.words(work.running.now().view)});
        if (const render::Frame* frame = context.picture.frame();
            work.looks.show_time && frame != nullptr)
            draw_time(at, view.height,
                      time_text(frame->time, frame->iteration, work.running.duration()));
    });
}

// Measures the picture shown as a file, so that the size of all files is known beforehand.
void weigh(Plan& plan, Context& context) {
    const Plan::Weight wanted{
        plan.width, plan.height, plan.labels, plan.kind, plan.scene, ImGui::GetTime(), 0};
    Plan::Weight& known = plan.weight;
    if (std::tie(known.width, known.height, known.labels, known.kind, known.scene) !=
        std::tie(wanted.width, wanted.height, wanted.labels, wanted.kind, wanted.scene)) {
        known = wanted;
        frame_wishes().want(FrameReason::settling);
        return;
    }
    if (known.bytes > 0 || is_film(plan) || takes_window(plan) ||
        context.picture.frame() == nullptr)
        return;
    constexpr double settled = 0.3;  // s
    if (const double left = known.since + settled - ImGui::GetTime(); left > 0) {
        frame_wishes().want(FrameReason::timer, left);
        return;
    }
    try {
        known.bytes = static_cast<double>(render::png_of(picture_of_view(plan, context)).size());
    } catch (const Error&) {
        known.since = ImGui::GetTime() + 10;  // the export itself says what is wrong
    }
}

// One picture, as soon as the moment that it is of has arrived.
void make_next(Plan& plan, Context& context) {
    constexpr double patience = 0.008;  // s: half a frame
    try {
        if (plan.ending) {
            if (plan.film->complete()) finish(plan, context, true);
            return;
        }
        // ffmpeg may still be at the picture before.
        if (plan.film && !plan.film->take(patience)) return;
        if (plan.next >= plan.count) {
            if (!plan.film) {
                finish(plan, context, true);
                return;
            }
            plan.film->end();
            give_back(plan, context.work);
            plan.ending = true;
            plan.ending_since = ImGui::GetTime();
            return;
        }
        if (!is_there(plan, context)) return;
        move_camera(plan, context.work);
        if (takes_window(plan))
            plan.capturing = true;  // the frame that is drawn now
        else
            add(plan, picture_of_view(plan, context));
    } catch (const std::exception& error) {
        fail(plan, context, error);
    }
}

// The fields of the dialog for pictures and films.
void picture_fields(Plan& plan, Context& context, const std::function<void(const char*)>& label) {
    Topics& work = context.work;
    if (plan.kind != "One picture") {
        label("Along");
        choice("##axis", {"simulated time", iterations}, plan.axis,
               "Which of the two axes the film runs along");
        label("Pictures/s");
        NumberField rate{.value = static_cast<double>(plan.frames_per_second),
                         .unit = "",
                         .low = 1,
                         .high = 240,
                         .width = 0,
                         .whole = true,
                         .tooltip = "Pictures for each second of the film",
                         .mixed = false};
        if (number_field("##rate", rate) != Edited::no)
            plan.frames_per_second = static_cast<int>(rate.value);
        ImGui::BeginDisabled(plan.axis == iterations);
        label("Speed");
        NumberField speed{.value = speed_of(plan, work.running),
                          .unit = "",
                          .low = 1e-5,
                          .high = 1e3,
                          .width = 0,
                          .tooltip =
                              "Simulated seconds for each second of the film; what lasts "
                              "less than a second is slowed down unless another speed is "
                              "given",
                          .mixed = false,
                          .logarithmic = true,
                          .shown = number_text(speed_of(plan, work.running), 3) + "x"};
        if (number_field("##speed", speed) != Edited::no) plan.speed = speed.value;
        ImGui::EndDisabled();
        label("");
        quiet_text(extent_text(plan, work));
    }
    label("Of");
    choice("##part", {only_view, whole_window}, plan.part,
           "The picture of the scene at a size of its own, or the window with all its panels as "
           "large as it is");
    ImGui::BeginDisabled(takes_window(plan));
    label("Size");
    std::string size = fmt::format("{} x {}", plan.width, plan.height);
    if (choice("##size", {"640 x 360", "1280 x 720", "1920 x 1080", "3840 x 2160", "1080 x 1080"},
               size, "Pixels")) {
        const std::size_t cross = size.find(" x ");
        plan.width = std::stoi(size.substr(0, cross));
        plan.height = std::stoi(size.substr(cross + 3));
    }
    if (plan.kind == "One picture" && plan.weight.bytes > 0 && !takes_window(plan)) {
        label("");
        quiet_text("about " + bytes_text(plan.weight.bytes));
    }
    label("");
    ImGui::Checkbox("Labels", &plan.labels);
    tip("Names, color bar and time stamp where the view shows them");
    ImGui::EndDisabled();
    label("");
    ImGui::BeginDisabled(work.camera.path().empty());
    ImGui::Checkbox("Along the camera path", &plan.along_path);
    tip(work.camera.path().empty()
            ? "The scene has no camera path: set keys with K at moments of the timeline"
            : "The camera moves along its keys; along iterations the whole path is gone once");
    ImGui::EndDisabled();
}

void progress_bar(const Plan& plan) {
    const ImVec2 size{-px(96), 0};
    if (plan.motion.is_running()) {
        const double part = plan.motion.progress();
        ImGui::ProgressBar(static_cast<float>(part), size,
                           part > 0 ? fmt::format("{:.0f} %", 100 * part).c_str() : "is built");
    } else if (plan.ending) {  // how much is left only ffmpeg knows
        ImGui::ProgressBar(
            static_cast<float>(-0.5 * ImGui::GetTime()), size,
            fmt::format("ffmpeg writes the film, {:.0f} s", ImGui::GetTime() - plan.ending_since)
                .c_str());
    } else {
        ImGui::ProgressBar(
            plan.count > 0 ? static_cast<float>(plan.next) / static_cast<float>(plan.count) : 0,
            size, fmt::format("{} of {}", plan.next, plan.count).c_str());
    }
}

}  // namespace

Exporter::Exporter() : plan_(std::make_unique<Plan>()) {}
Exporter::~Exporter() = default;

void Exporter::advance(Context& context) {
    plan_->motion.advance(context.work.messages);
    if (context.work.requests.show_export && !is_running() && !is_motion(*plan_))
        weigh(*plan_, context);
    if (plan_->running) make_next(*plan_, context);
}

void Exporter::abandon(Context& context) {
    if (!plan_->running) return;
    fail(*plan_, context, Error("the export has ended: the graphics device was lost"));
}

bool Exporter::is_running() const { return plan_->running || plan_->motion.is_running(); }

double Exporter::picture_bytes() const { return plan_->weight.bytes; }

bool Exporter::takes_frame() const { return plan_->capturing; }

void Exporter::take_frame(Context& context, const render::Image& image) {
    plan_->capturing = false;
    try {
        add(*plan_, image);
    } catch (const std::exception& error) {
        fail(*plan_, context, error);
    }
}

void Exporter::draw(Context& context) {
    Plan& plan = *plan_;
    Topics& work = context.work;
    const bool running = is_running();
    if ((!work.requests.show_export && !running) || plan.capturing) return;
    if (plan.folder.empty())
        plan.folder = ((work.scene.is_bundled(fs::current_path()) ? work.scene.output_folder()
                                                                  : fs::current_path()) /
                       "out")
                          .string();
    if (plan.scene != work.scene.editor().file()) {
        plan.scene = work.scene.editor().file();
        plan.speed = 0;
    }
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing,
                            {0.5F, 0.5F});
    ImGui::SetNextWindowSize({px(400), 0});
    ImGui::Begin("Export", running ? nullptr : &work.requests.show_export,
                 ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoCollapse |
                     ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoSavedSettings);
    const auto label = [](const char* text) {
        ImGui::AlignTextToFramePadding();
        quiet_text(text);
        ImGui::SameLine(px(110));
    };
    ImGui::BeginDisabled(running);
    label("What");
    std::vector<std::string> kinds{"PNG sequence", "MP4", "GIF", "One picture"};
    kinds.insert(kinds.end(), MotionExport::kinds().begin(), MotionExport::kinds().end());
    choice("##kind", kinds, plan.kind,
           is_motion(plan) ? MotionExport::help(plan.kind)
                           : "Films are made by ffmpeg from the pictures");
    if (is_motion(plan))
        plan.motion.fields(work, label);
    else
        picture_fields(plan, context, label);
    label("Folder");
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::InputText("##folder", &plan.folder);
    tip("Where the files go; it is made if it does not exist");
    ImGui::EndDisabled();
    ImGui::Spacing();
    if (running) {
        progress_bar(plan);
        ImGui::SameLine();
        const bool nothing_is_left = is_film(plan) || plan.motion.is_running();
        if (text_button(nullptr, "Cancel",
                        nothing_is_left ? "Stops; nothing of it is left"
                                        : "Stops; the pictures so far are kept",
                        true, false, px(88))) {
            if (plan.motion.is_running())
                plan.motion.cancel(work.messages);
            else
                finish(plan, context, false);
        }
    } else {
        if (text_button(icon::export_out, "Export", "Makes the files", true, true, px(110)))
            start(plan, work);
        ImGui::SameLine();
        const bool escape = ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows) &&
                            ImGui::IsKeyPressed(ImGuiKey_Escape, false) &&
                            !ImGui::GetIO().WantTextInput;
        if (text_button(nullptr, "Close", "Closes this (Escape)", true, false, px(88)) || escape)
            work.requests.show_export = false;
    }
    ImGui::End();
}

}  // namespace hindcast::gui
