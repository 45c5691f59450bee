// The part of the export dialog that writes a scene's motion for other programs (app/export): with
// the parameters that are shown, from the start to the end, beside the window.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/export/export_task.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

class MotionExport {
public:
    // The kinds that the dialog offers, such as "USD (Blender, Houdini)".
    static const std::vector<std::string>& kinds();
    static bool is_one(const std::string& kind);
    // "USD writes one file ..."
    static const char* help(const std::string& kind);

    // Every so many steps a frame, and what that comes to.
    void fields(Topics& work, const std::function<void(const char*)>& label);
    // The ending of the name of the file, or of the folder of a series.
    static const char* ending(const std::string& kind);
    void start(Topics& work, const std::string& kind, const std::filesystem::path& target);
    bool is_running() const { return task_ != nullptr; }
    double progress() const { return task_ ? task_->progress() : 0; }
    void cancel(Messages& messages);
    // Once a frame: says that it has ended.
    void advance(Messages& messages);

private:
    std::int64_t every(const Topics& work) const;

    std::filesystem::path scene_;  // that `every_` was chosen for
    std::int64_t every_ = 0;       // whole steps; 0: what suits the scene
    std::unique_ptr<exporting::ExportTask> task_;
};

}  // namespace hindcast::gui
