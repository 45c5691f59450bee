#include "app/session/threads/work/warning_check.hpp"

#include <algorithm>
#include <utility>

namespace hindcast::session {

SimulationOptions WarningCheck::heard_options() {
    SimulationOptions options = state_.options.simulation;
    options.on_warning = [this](const Warning&) { publish(); };
    return options;
}

// Pairs that nothing keeps apart stay so, whatever the numbers are.
bool WarningCheck::numbers_warn() const {
    return state_.now.simulation &&
           std::ranges::any_of(state_.now.simulation->warnings(), [](const Warning& warning) {
               return warning.identifier != "contact_pairs";
           });
}

void WarningCheck::publish() {
    if (!state_.now.simulation) return;
    const std::vector<Warning>& found = state_.now.simulation->warnings();
    const Lock lock(shared_.mutex);
    auto& known = shared_.draft.scene.warnings;
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

bool WarningCheck::has_found() {
    std::shared_ptr<const document::Document> warns;
    {
        const Lock lock(shared_.mutex);
        warns.swap(warns_);
    }
    return warns && warns == state_.document;
}

void WarningCheck::check() {
    if (unchecked_ != state_.document || !unchecked_ || checks_) return;
    unchecked_.reset();
    checks_ = true;
    task_.start(
        [this, document = state_.document, file = state_.file,
         options = in_background(state_.options.simulation)] {
            const Simulation built(Scene::of(*document, file), state_.registry, options);
            if (built.warnings().empty()) return;
            const Lock lock(shared_.mutex);
            warns_ = document;
        },
        [this](const std::optional<Error>&) {  // an error of that build does not concern the run
            checks_ = false;
            const Lock lock(shared_.mutex);
            shared_.wake_runner();
        });
}

}  // namespace hindcast::session
