#include "app/session/document/identification_task.hpp"

#include <chrono>
#include <utility>

#include "engine/document/text.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/identification/identification_files.hpp"

namespace hindcast::session {

using Phase = IdentificationTask::Progress::Phase;

IdentificationTask::IdentificationTask(std::shared_ptr<const document::Document> document,
                                       std::filesystem::path file, const Registry& registry,
                                       IdentificationWanted wanted)
    : document_(std::move(document)),
      file_(std::move(file)),
      registry_(registry),
      wanted_(std::move(wanted)) {
    background_.start([this] { run(); },
                      [this](const std::optional<Error>& failure) {
                          {
                              const std::scoped_lock lock(mutex_);
                              problem_ = failure;
                              progress_.phase = Phase::ended;
                          }
                          ready_ = true;
                      });
}

IdentificationTask::~IdentificationTask() { background_.cancel(); }

void IdentificationTask::run() {
    const auto begin = std::chrono::steady_clock::now();
    SimulationOptions options = in_background(ir::Precision::f64);
    options.allowed_paths = wanted_.allowed_paths;
    simulation_ = std::make_unique<Simulation>(Scene::of(*document_, file_), registry_, options);
    run_ = std::make_unique<IdentificationRun>(*simulation_, registry_);
    run_->identification().function().end_when([this] { return background_.canceled().load(); });
    const auto starts = run_->identification().starts(wanted_.starts, wanted_.seed);
    for (const std::string& text : wanted_.validate) run_->validate_with(text);
    if (background_.canceled()) return;
    tell({Phase::checking});
    run_->check(wanted_.fit);
    keep_outcome();
    if (wanted_.fit && !background_.canceled() && !stopped_) {
        Progress progress{Phase::fitting};
        tell(progress);
        Identification::Options how{.iterations = wanted_.iterations, .watch = {}};
        how.watch = [&](std::size_t start, std::int64_t iteration, double cost) {
            progress.start = start;
            progress.iteration = iteration;
            progress.costs.resize(start + 1);
            progress.costs[start].push_back(cost);
            tell(progress);
            return !stopped_ && !background_.canceled();
        };
        run_->fit(starts, how);
        keep_outcome();
    }
    const std::scoped_lock lock(mutex_);
    progress_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void IdentificationTask::tell(Progress progress) {
    const std::scoped_lock lock(mutex_);
    progress_ = std::move(progress);
}

void IdentificationTask::keep_outcome() {
    auto copy = std::make_shared<const IdentificationOutcome>(run_->outcome());
    const std::scoped_lock lock(mutex_);
    outcome_ = std::move(copy);
}

IdentificationTask::Progress IdentificationTask::progress() const {
    const std::scoped_lock lock(mutex_);
    return progress_;
}

std::shared_ptr<const IdentificationOutcome> IdentificationTask::outcome() const {
    const std::scoped_lock lock(mutex_);
    return outcome_;
}

std::optional<Error> IdentificationTask::problem() const {
    const std::scoped_lock lock(mutex_);
    return problem_;
}

document::Document IdentificationTask::identified() const {
    if (!ready_ || !outcome() || !outcome()->is_fitted())
        throw Error("internal: nothing was identified");
    document::Document changed = *document_;
    const auto write = [&](const std::string& pointer, const std::vector<double>& values,
                           int components, bool shared) {
        changed.set(pointer, document::written_form(values, components, shared));
    };
    simulation_->parameters().fetch_values();
    for (const Parameter& p : simulation_->parameters().list()) {
        const model::Quantity& q = *p.quantity;
        write(q.scene_pointer, q.values, q.components, q.shared);
    }
    // Values computed from these at load stay fixed.
    for (const model::Model::MadeFrom& m : simulation_->model().made_from())
        if (simulation_->model().find_quantity(m.quantity)->values != m.values)
            write(m.scene_pointer, m.values, m.components, m.shared);
    return changed;
}

void IdentificationTask::save(const std::filesystem::path& folder) {
    if (!ready_ || !run_) throw Error("internal: there is nothing to be saved");
    run_->save(ResultsFolder(folder, identification_files(*simulation_)), progress().seconds);
}

std::vector<MeasuredFile> measured_files(const document::Document& document) {
    std::vector<MeasuredFile> all;
    const document::Node* const list = document.find("/objective");
    if (list == nullptr || !list->is_array()) return all;
    for (std::size_t k = 0; k < list->size(); ++k) {
        const document::Node& object = list->item(k);
        if (!object.is_object()) continue;
        const auto text = [&](const char* key) {
            const document::Node* const node = object.find(key);
            return node != nullptr && node->is_string() ? node->string() : std::string();
        };
        if (text("type") == "measured") {
            const document::Node* const delay = object.find("delay");
            all.push_back({text("name").empty() ? "measured" : text("name"), text("file"),
                           delay == nullptr ? "0" : document::to_line(*delay)});
        }
    }
    return all;
}

}  // namespace hindcast::session
