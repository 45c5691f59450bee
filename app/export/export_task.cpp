#include "app/export/export_task.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "engine/base/ended_process.hpp"

namespace hindcast::exporting {

namespace fs = std::filesystem;

namespace {

// A folder beside the target that is gone with this, unless it was moved elsewhere. Those that
// processes left when they were killed go with the next export to the same target.
class Workplace {
public:
    explicit Workplace(const fs::path& target)
        : path_(target.parent_path() / fmt::format("{}{}.new", start_of(target), getpid())) {
        remove_abandoned(target);
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        std::error_code error;
        if (!fs::create_directories(path_, error))
            throw Error("cannot write into " + target.parent_path().string() + ": " +
                        error.message())
                .remedy("choose another folder");
    }
    ~Workplace() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    const fs::path& path() const { return path_; }

private:
    static std::string start_of(const fs::path& target) {
        return "." + target.filename().string() + ".";
    }
    static void remove_abandoned(const fs::path& target) {
        const std::string start = start_of(target);
        std::error_code ignored;
        for (fs::directory_iterator entry(target.parent_path(), ignored), end; entry != end;
             entry.increment(ignored)) {
            const std::string name = entry->path().filename().string();
            if (!name.starts_with(start)) continue;
            if (after_ended_process(std::string_view(name).substr(start.size())) != ".new")
                continue;
            fs::remove_all(entry->path(), ignored);
        }
    }

    fs::path path_;
};

}  // namespace

ExportTask::ExportTask(std::shared_ptr<const document::Document> document, fs::path scene,
                       const Registry& registry,
                       std::shared_ptr<const std::vector<double>> parameters, Wanted wanted)
    : document_(std::move(document)),
      scene_(std::move(scene)),
      registry_(registry),
      parameters_(std::move(parameters)),
      wanted_(std::move(wanted)) {
    background_.start([this] { run(); },
                      [this](const std::optional<Error>& failure) {
                          problem_ = failure;
                          ready_ = true;
                      });
}

ExportTask::~ExportTask() { background_.cancel(); }

std::optional<Error> ExportTask::problem() const { return ready_ ? problem_ : std::nullopt; }

void ExportTask::run() {
    const Workplace place(wanted_.target);
    write(place.path());
    if (background_.canceled()) return;
    try {
        if (wanted_.format == Format::usd) {
            fs::rename(fs::directory_iterator(place.path())->path(), wanted_.target);
        } else {
            fs::remove_all(wanted_.target);
            fs::rename(place.path(), wanted_.target);
        }
    } catch (const fs::filesystem_error& error) {
        throw Error("cannot write " + wanted_.target.string() + ": " + error.code().message())
            .remedy("choose another folder");
    }
}

void ExportTask::write(const fs::path& folder) {
    Simulation simulation(Scene::of(*document_, scene_), registry_,
                          session::in_background(wanted_.precision));
    if (parameters_) simulation.parameters().set_values(*parameters_);
    Exporter exporter(
        folder, [&](const std::string& name) { return folder / name; }, simulation,
        {wanted_.format}, wanted_.every);
    const auto total = static_cast<double>(std::max<std::int64_t>(simulation.steps(), 1));
    simulation.run(false, [&](std::int64_t done) {
        exporter.watch(done);
        progress_ = static_cast<double>(done) / total;
        return !background_.canceled();
    });
    if (background_.canceled()) return;
    exporter.finish();
    if (const auto& diverged = simulation.rollout().divergence())
        divergence_ = fmt::format("the run is not finite after {} steps, where the frames end",
                                  diverged->step / simulation.scene().substeps());
}

}  // namespace hindcast::exporting
