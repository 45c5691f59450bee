// The motion of a scene written for other programs on a thread of its own, with a simulation and a
// device of its own, while the window goes on.
//
//     ExportTask task(document, file, registry, parameters, wanted);
//     task.progress()            at any time
//     task.ready()               then problem() says whether it failed
//
// Files are written into a folder of their own beside the target and take its place at the end: what
// was there stays as it was until then, and where the task is destroyed before.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/export/export.hpp"
#include "app/session/background_task.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::exporting {

class ExportTask {
public:
    struct Wanted {
        Format format = Format::usd;
        // A file for USD; of other formats a folder, in which nothing else lies.
        std::filesystem::path target;
        std::int64_t every = 1;  // whole steps between two frames
        ir::Precision precision = ir::Precision::f32;
    };
    // `parameters`: values of the scene's, in the order of the flat vector; null: as it is written.
    ExportTask(std::shared_ptr<const document::Document> document, std::filesystem::path scene,
               const Registry& registry, std::shared_ptr<const std::vector<double>> parameters,
               Wanted wanted);
    ~ExportTask();  // ends it at the next step
    ExportTask(const ExportTask&) = delete;
    ExportTask& operator=(const ExportTask&) = delete;

    const Wanted& wanted() const { return wanted_; }
    double progress() const { return progress_; }  // 0 .. 1
    bool ready() const { return ready_; }
    std::optional<Error> problem() const;  // once ready
    // Once ready: "the run is not finite from ...", where the frames end; empty: it is.
    std::string divergence() const { return ready_ ? divergence_ : std::string(); }

private:
    void run();
    void write(const std::filesystem::path& folder);

    const std::shared_ptr<const document::Document> document_;
    const std::filesystem::path scene_;
    const Registry& registry_;
    const std::shared_ptr<const std::vector<double>> parameters_;
    const Wanted wanted_;
    std::optional<Error> problem_;
    std::string divergence_;
    std::atomic<double> progress_ = 0;
    std::atomic<bool> ready_ = false;
    session::BackgroundTask background_;  // last: it ends before the members that it uses are gone
};

}  // namespace hindcast::exporting
