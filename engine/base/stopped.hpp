// Stopped: thrown to end work early with its results so far (backend/jit/interruption.hpp): an
// optimization, a check of gradients and the like catch it and return those. It is not a
// std::exception, so that no handler mistakes it for a failure.
#pragma once

namespace hindcast {

struct Stopped {};

}  // namespace hindcast
