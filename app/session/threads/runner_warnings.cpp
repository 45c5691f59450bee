// Warnings of the simulation, as they are found. A build finds those of the scene's numbers; numbers
// that are set in place are not built, so that a build in the background looks at them once nothing
// else is to be done. If it warns, the scene is built anew, as for any other edit.
#include <algorithm>

#include "app/session/text/scene_faults.hpp"
#include "app/session/threads/runner.hpp"

namespace hindcast::session {

// For the simulation that runs: whatever it finds is published at once.
SimulationOptions Runner::heard_options() {
    SimulationOptions options = options_.simulation;
    options.on_warning = [this](const Warning&) { publish_warnings(); };
    return options;
}

// Other numbers may mend what it warns of, apart from pairs that nothing keeps apart. They are not
// set in a simulation that would keep the warning.
bool Runner::numbers_warn() const {
    return now_.simulation &&
           std::ranges::any_of(now_.simulation->warnings(), [](const Warning& warning) {
               return warning.identifier != "contact_pairs";
           });
}

// New ones are logged.
void Runner::publish_warnings() {
    if (!now_.simulation) return;
    const std::vector<Warning>& found = now_.simulation->warnings();
    const Lock lock(shared_.mutex);
    auto& known = shared_.draft.warnings;
    const auto is_in = [](const std::vector<Warning>& list, const Warning& warning) {
        return std::ranges::find(list, warning.text(), &Warning::text) != list.end();
    };
    if (known && known->size() == found.size() &&
        std::ranges::all_of(found, [&](const Warning& w) { return is_in(*known, w); }))
        return;
    for (const Warning& warning : found)
        if (!known || !is_in(*known, warning)) shared_.log(LogLine::Level::warning, warning.text());
    known = std::make_shared<const std::vector<Warning>>(found);
    shared_.mark_changed();
}

// True if it has built the scene.
bool Runner::check_warnings() {
    std::shared_ptr<const document::Document> warns;
    {
        const Lock lock(shared_.mutex);
        warns.swap(warns_);
    }
    if (warns && warns == document_) {
        take_over(load_scene(*document_, file_, registry_, heard_options()),
                  {document_, revision_, file_, false});
        return true;
    }
    if (unchecked_ != document_ || !unchecked_ || checks_warnings_) return false;
    unchecked_.reset();
    checks_warnings_ = true;
    warning_check_.start(
        [this, document = document_, file = file_, options = in_background(options_.simulation)] {
            const Simulation built(Scene::of(*document, file), registry_, options);
            if (built.warnings().empty()) return;
            const Lock lock(shared_.mutex);
            warns_ = document;
        },
        [this](const std::optional<Error>&) {  // an error of the build is none of the run
            checks_warnings_ = false;
            const Lock lock(shared_.mutex);
            shared_.wake_runner();
        });
    return false;
}

}  // namespace hindcast::session
