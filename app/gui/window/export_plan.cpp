#include "app/gui/window/export_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/words.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;
using Plan = Exporter::Plan;

double speed_of(const Plan& plan, const Running& running) {
    return plan.speed > 0 ? plan.speed : session::fitting_speed(running.duration());
}

std::int64_t pictures_of_time(const Plan& plan, const Topics& work) {
    return 1 + static_cast<std::int64_t>(std::floor(
                   work.running.duration() / speed_of(plan, work.running) * plan.frames_per_second +
                   1e-9));
}

std::vector<std::int64_t> shown_iterations(const Running& running) {
    const session::Snapshot& now = running.now();
    std::vector<std::int64_t> all;
    if (now.optimization.history)
        for (const session::IterationInfo& row : *now.optimization.history)
            if (row.can_show && row.build == now.scene.shown_build) all.push_back(row.iteration);
    return all;
}

std::vector<std::int64_t> positions_of(const Plan& plan, const Topics& work) {
    if (plan.axis == iterations) return shown_iterations(work.running);
    const session::Snapshot& now = work.running.now();
    const std::int64_t count = pictures_of_time(plan, work);
    const double speed = speed_of(plan, work.running);
    std::vector<std::int64_t> all;
    for (std::int64_t k = 0; k < count; ++k) {
        const double time = static_cast<double>(k) / plan.frames_per_second * speed;
        all.push_back(std::min<std::int64_t>(
            std::llround(time / std::max(now.run.step_seconds, 1e-300)), now.run.steps));
    }
    return all;
}

bool takes_window(const Plan& plan) { return plan.part == whole_window; }

std::string extent_text(const Plan& plan, const Topics& work) {
    const auto count = plan.axis == iterations
                           ? static_cast<std::int64_t>(shown_iterations(work.running).size())
                           : pictures_of_time(plan, work);
    std::string text =
        fmt::format("{} picture{}, {}", count, count == 1 ? "" : "s",
                    duration_text(static_cast<double>(count) / plan.frames_per_second));
    if (plan.weight.bytes > 0 && plan.kind == "PNG sequence" && !takes_window(plan))
        text += ", about " + bytes_text(plan.weight.bytes * static_cast<double>(count));
    return text;
}

bool is_film(const Plan& plan) { return plan.kind == "MP4" || plan.kind == "GIF"; }

bool is_motion(const Plan& plan) { return MotionExport::is_one(plan.kind); }

fs::path target_of(const Plan& plan, const std::string& name) {
    const std::string ending = is_motion(plan)              ? MotionExport::ending(plan.kind)
                               : plan.kind == "MP4"         ? ".mp4"
                               : plan.kind == "GIF"         ? ".gif"
                               : plan.kind == "One picture" ? ".png"
                                                            : "_frames";
    return fs::path(plan.folder) / (name + ending);
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const fs::directory_entry& item : fs::directory_iterator(folder, error)) {
        const std::string name = item.path().stem().string();
        if (item.path().extension() == ".png" && name.size() == 5 &&
            name.find_first_not_of("0123456789") == std::string::npos)
            found.push_back(item.path());
    }
    return found;
}

bool is_there_already(const Plan& plan, const fs::path& target) {
    std::error_code error;
    return plan.kind == "PNG sequence" ? !pictures_in(target).empty() : fs::exists(target, error);
}

}  // namespace hindcast::gui
