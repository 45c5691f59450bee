#include "app/gui/window/export_motion.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;
using exporting::Format;

namespace {

struct Kind {
    std::string name;
    Format format;
    const char* ending;
    const char* help;
};
const std::array<Kind, 4> all_kinds{
    {{"USD (Blender, Houdini)", Format::usd, ".usda",
      "One file with all frames and all that is drawn: points, springs, surfaces, rigid bodies, "
      "obstacles, fields"},
     {"VTU series (ParaView)", Format::vtu, "_vtu",
      "A folder with one file for each frame and all state arrays, stresses and energies"},
     {"PLY series", Format::ply, "_ply",
      "A folder with points, triangles and velocities for each frame"},
     {"OBJ series", Format::obj, "_obj",
      "A folder with points, lines and triangles for each frame, object by object"}}};

const Kind* find(const std::string& name) {
    const auto* const found = std::ranges::find(all_kinds, name, &Kind::name);
    return found == all_kinds.end() ? nullptr : found;
}

constexpr double fitting_rate = 30;  // frames in a simulated second

std::int64_t fitting_every(const Running& running) {
    const double step = running.now().run.step_seconds;
    return step > 0
               ? std::clamp<std::int64_t>(std::llround(1 / (fitting_rate * step)), 1,
                                          std::max<std::int64_t>(running.now().run.steps / 20, 1))
               : 1;
}

}  // namespace

const std::vector<std::string>& MotionExport::kinds() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const Kind& kind : all_kinds) list.push_back(kind.name);
        return list;
    }();
    return names;
}

bool MotionExport::is_one(const std::string& kind) { return find(kind) != nullptr; }

const char* MotionExport::help(const std::string& kind) {
    const Kind* const found = find(kind);
    return found != nullptr ? found->help : "";
}

const char* MotionExport::ending(const std::string& kind) { return find(kind)->ending; }

std::int64_t MotionExport::every(const Topics& work) const {
    return every_ > 0 && scene_ == work.scene.editor().file() ? every_
                                                              : fitting_every(work.running);
}

void MotionExport::fields(Topics& work, const std::function<void(const char*)>& label) {
    const session::Snapshot& now = work.running.now();
    label("Every");
    NumberField field{.value = static_cast<double>(every(work)),
                      .unit = "steps",
                      .low = 1,
                      .high = static_cast<double>(std::max<std::int64_t>(now.run.steps, 1)),
                      .width = 0,
                      .whole = true,
                      .tooltip = "Steps of the simulation between two frames of the file",
                      .mixed = false,
                      .shown = fmt::format("{} step{}", every(work), every(work) == 1 ? "" : "s")};
    if (number_field("##every", field) != Edited::no) {
        every_ = std::llround(field.value);
        scene_ = work.scene.editor().file();
    }
    const std::int64_t frames =
        now.run.steps / every(work) + 1 + (now.run.steps % every(work) != 0);
    label("");
    quiet_text(
        fmt::format("{} frame{}, {:.4g} in a simulated second", frames, frames == 1 ? "" : "s",
                    1 / std::max(now.run.step_seconds * static_cast<double>(every(work)), 1e-9)));
    label("");
    wrapped_text("All of the run, with the parameters that are shown.", style().palette().quiet);
}

void MotionExport::start(Topics& work, const std::string& kind, const fs::path& target) {
    const session::Snapshot& now = work.running.now();
    if (now.shows_older_scene()) {
        work.messages.fail(
            Error("what is shown belongs to the scene before an edit")
                .remedy("branch from it (B), or show an iteration of the scene as it is now"));
        return;
    }
    task_ = std::make_unique<exporting::ExportTask>(
        work.scene.editor().document(), work.scene.editor().place(), work.scene.registry(),
        now.values.flat,
        exporting::ExportTask::Wanted{
            find(kind)->format, target, every(work),
            now.scene.precision == "f64" ? ir::Precision::f64 : ir::Precision::f32});
}

void MotionExport::cancel(Messages& messages) {
    task_.reset();
    messages.tell("Export canceled; nothing of it is left");
}

void MotionExport::advance(Messages& messages) {
    if (!task_ || !task_->ready()) return;
    const std::unique_ptr<exporting::ExportTask> ended = std::move(task_);
    if (const auto problem = ended->problem()) {
        messages.fail(*problem);
        return;
    }
    std::string text = "Exported " + ended->wanted().target.string();
    if (!ended->divergence().empty()) text += "; " + ended->divergence();
    messages.tell(text, ended->divergence().empty() ? Notice::Kind::success : Notice::Kind::error);
}

}  // namespace hindcast::gui
