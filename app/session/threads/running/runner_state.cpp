#include "app/session/threads/running/runner_state.hpp"

#include <utility>

namespace hindcast::session {

RunnerState::RunnerState(SharedState& shared_state, const Registry& all_modules,
                         SessionOptions wanted)
    : shared(shared_state),
      registry(all_modules),
      options(std::move(wanted)),
      activity(shared_state) {}

void RunnerState::note_unaccepted() {
    const bool unaccepted = values && written && *values != *written;
    if (shared.draft.optimization.unaccepted == unaccepted) return;
    shared.draft.optimization.unaccepted = unaccepted;
    shared.mark_changed();
}

void BuiltScene::load(const std::vector<SharedValues>& base, const SharedValues& parameters) {
    std::size_t k = 0;
    for (const auto& [path, q] : simulation->model().quantities()) {
        if (loaded[k] != base[k]) {
            q->values = *base[k];
            q->upload();
            loaded[k] = base[k];
        }
        ++k;
    }
    if (parameters && simulation->parameters().values() != *parameters)
        simulation->parameters().set_values(*parameters);
}

}  // namespace hindcast::session
