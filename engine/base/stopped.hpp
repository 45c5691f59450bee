// Thrown to end work whose beginner keeps what there is (backend/jit/interruption.hpp): an
// optimisation, a check of gradients and the like catch it and return that. It is no std::exception,
// so that nobody takes it for the failure of a part.
#pragma once

namespace hindcast {

struct Stopped {};

}  // namespace hindcast
