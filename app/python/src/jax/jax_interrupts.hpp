// Ctrl-C while XLA calls a handler. The interpreter raises KeyboardInterrupt only when the call is
// over, since it waits for it; so the handler notices the signal itself, ends its work where that can
// be ended (interruption.hpp), and returns an error.
#pragma once

#include <optional>

#include "engine/backend/jit/interruption.hpp"

namespace hindcast::python {

// For the work of this thread, while it lives: from the first interruption point on, SIGINT is
// counted before it goes to its handler. A disposition that ignores the signal, or ends the
// process, is left as it is.
class EndsByInterrupt {
public:
    EndsByInterrupt();
    ~EndsByInterrupt();
    EndsByInterrupt(const EndsByInterrupt&) = delete;
    EndsByInterrupt& operator=(const EndsByInterrupt&) = delete;

private:
    std::optional<int> before_;  // as many signals as there had been at the first point
    backend::Interruptible here_;
};

}  // namespace hindcast::python
