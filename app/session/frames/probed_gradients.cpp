#include "app/session/frames/probed_gradients.hpp"

namespace hindcast::session {

bool ProbedGradients::is_of(const Trajectory& t) const {
    return scene == t.scene && base == t.base &&
           (parameters == t.parameters ||
            (parameters && t.parameters && *parameters == *t.parameters));
}

}  // namespace hindcast::session
