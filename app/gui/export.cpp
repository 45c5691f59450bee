// Pictures and films of time or of iterations. One picture is made for each frame of the window, so
// that the window stays usable and the export can be cancelled.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/gui/shell.hpp"
#include "app/render/png.hpp"
#include "app/render/video.hpp"

namespace hindcast::gui {

namespace {

namespace fs = std::filesystem;

struct Plan {
    std::string kind = "PNG sequence", axis = "simulated time";
    int width = 1280, height = 720, frames_per_second = 30;
    std::string folder;
    // While it runs:
    bool running = false, single = false;
    std::int64_t next = 0, count = 0, asked = -1;
    double asked_at = 0;
    fs::path target;  // a folder of pictures, or the film
    std::unique_ptr<render::Video> film;
    std::int64_t before = 0;
};

Plan plan;  // of the one export that can run

std::int64_t position(const Workspace& work, std::int64_t frame) {
    if (plan.axis != "simulated time") {
        const auto& history = *work.now().history;
        return history[static_cast<std::size_t>(frame)].iteration;
    }
    const double seconds = static_cast<double>(frame) / plan.frames_per_second;
    return std::min<std::int64_t>(std::llround(seconds / std::max(work.now().step_seconds, 1e-300)),
                                  work.now().steps);
}

bool is_film() { return plan.kind == "MP4" || plan.kind == "GIF"; }

void start(Workspace& work) {
    const session::Snapshot& now = work.now();
    plan.target = fs::path(plan.folder) / (work.title() + (plan.kind == "MP4"   ? ".mp4"
                                                           : plan.kind == "GIF" ? ".gif"
                                                                                : "_frames"));
    try {
        fs::create_directories(is_film() ? fs::path(plan.folder) : plan.target);
        if (is_film())
            plan.film = std::make_unique<render::Video>(plan.target, plan.width, plan.height,
                                                        plan.frames_per_second);
    } catch (const std::exception& error) {
        work.fail(error);
        return;
    }
    plan.running = true;
    plan.next = 0;
    plan.asked = -1;
    plan.before = now.step;
    if (plan.axis == "simulated time") {
        const double seconds = static_cast<double>(now.steps) * now.step_seconds;
        plan.count = std::max<std::int64_t>(1, std::llround(seconds * plan.frames_per_second) + 1);
    } else {
        plan.count = now.history ? static_cast<std::int64_t>(now.history->size()) : 0;
    }
    work.play(false);
}

void finish(Context& context, bool whole) {
    Workspace& work = context.work;
    plan.running = false;
    work.send(session::Seek{plan.before});
    if (!whole) {
        plan.film.reset();
        work.tell(is_film() ? std::string("Export cancelled")
                            : fmt::format("Export cancelled; {} pictures are in {}", plan.next,
                                          plan.target.string()));
        return;
    }
    try {
        if (plan.film) plan.film->finish();
        work.tell("Exported " + plan.target.string(), Notice::Kind::success);
    } catch (const std::exception& error) {
        work.fail(error);
    }
    plan.film.reset();
}

// One picture, as soon as the moment that it is of has arrived.
void advance(Context& context) {
    Workspace& work = context.work;
    if (plan.next >= plan.count) {
        finish(context, true);
        return;
    }
    const std::int64_t wanted = position(work, plan.next);
    const bool time = plan.axis == "simulated time";
    if (plan.asked != wanted) {
        plan.asked = wanted;
        plan.asked_at = ImGui::GetTime();
        if (time)
            work.send(session::Seek{wanted});
        else
            work.send(session::ShowIteration{wanted});
        return;
    }
    const render::Frame* frame = context.picture.frame();
    const bool arrived =
        frame != nullptr && (time ? frame->step == wanted : frame->iteration == wanted);
    // Frames are kept every few steps only: the nearest one will do after a while.
    if (!arrived && ImGui::GetTime() < plan.asked_at + 2) return;
    try {
        render::View view = work.view;
        view.width = plan.width;
        view.height = plan.height;
        const render::Image image = context.picture.image(view);
        if (plan.film)
            plan.film->add(image);
        else
            render::write_png(plan.target / fmt::format("{:05}.png", plan.next), image);
        ++plan.next;
    } catch (const std::exception& error) {
        plan.running = false;
        plan.film.reset();
        work.fail(error);
    }
}

}  // namespace

void advance_export(Context& context) {
    if (plan.running) advance(context);
    if (!std::exchange(plan.single, false)) return;
    Workspace& work = context.work;
    try {
        fs::create_directories(plan.folder);
        render::View view = work.view;
        view.width = plan.width;
        view.height = plan.height;
        const fs::path file = fs::path(plan.folder) / (work.title() + ".png");
        render::write_png(file, context.picture.image(view));
        work.tell("Exported " + file.string(), Notice::Kind::success);
    } catch (const std::exception& error) {
        work.fail(error);
    }
}

void draw_export(Context& context) {
    Workspace& work = context.work;
    if (!work.show_export && !plan.running) return;
    if (plan.folder.empty())
        plan.folder = work.editor().file().empty() ? fs::current_path().string()
                                                   : (fs::current_path() / "out").string();
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing,
                            {0.5F, 0.5F});
    ImGui::SetNextWindowSize({px(400), 0});
    ImGui::Begin("Export", plan.running ? nullptr : &work.show_export,
                 ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoCollapse |
                     ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoSavedSettings);
    const auto label = [](const char* text) {
        ImGui::AlignTextToFramePadding();
        quiet_text(text);
        ImGui::SameLine(px(110));
    };
    ImGui::BeginDisabled(plan.running);
    label("What");
    choice("##kind", {"PNG sequence", "MP4", "GIF", "One picture"}, plan.kind,
           "Films are made by ffmpeg from the pictures");
    if (plan.kind != "One picture") {
        label("Along");
        choice("##axis", {"simulated time", "iterations"}, plan.axis,
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
    }
    label("Size");
    static std::string size;
    size = fmt::format("{} x {}", plan.width, plan.height);
    if (choice("##size", {"1280 x 720", "1920 x 1080", "3840 x 2160", "1080 x 1080"}, size,
               "Pixels")) {
        const std::size_t cross = size.find(" x ");
        plan.width = std::stoi(size.substr(0, cross));
        plan.height = std::stoi(size.substr(cross + 3));
    }
    label("Folder");
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::InputText("##folder", &plan.folder);
    tip("Where the files go; it is made if it does not exist");
    ImGui::EndDisabled();
    ImGui::Spacing();
    if (plan.running) {
        ImGui::ProgressBar(
            plan.count > 0 ? static_cast<float>(plan.next) / static_cast<float>(plan.count) : 0,
            {-px(96), 0}, fmt::format("{} of {}", plan.next, plan.count).c_str());
        ImGui::SameLine();
        if (text_button(nullptr, "Cancel", "Stops; the pictures so far are kept", true, false,
                        px(88)))
            finish(context, false);
    } else {
        if (text_button(icon::export_out, "Export", "Makes the files", true, true, px(110))) {
            if (plan.kind == "One picture") {
                plan.single = true;
            } else {
                start(work);
            }
        }
        ImGui::SameLine();
        if (text_button(nullptr, "Close", "Closes this", true, false, px(88)))
            work.show_export = false;
    }
    ImGui::End();
}

}  // namespace hindcast::gui
