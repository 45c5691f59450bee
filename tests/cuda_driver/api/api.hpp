// What every entry point does first: one thread at a time; a failure that the settings ask for;
// initialization; the thread's context and its sticky error.
#pragma once

#include <mutex>

#include "engine/backend/cuda/driver.hpp"
#include "tests/cuda_driver/context.hpp"
#include "tests/cuda_driver/results.hpp"

// Entry points have the signatures of the engine's table.
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace software_cuda {

namespace api = hindcast::backend::cuda;

extern thread_local Context* current;

// `action(System&)`.
template <class Action>
int call(const char* name, const Action& action) {
    System& system = the_system();
    const std::lock_guard lock(system.mutex);
    if (const int failed = system.settings.failure(name)) return failed;
    if (!system.initialized) return not_initialized;
    return action(system);
}

// `action(System&, Context&)`. What the call makes fail for good, it returns.
template <class Action>
int call_in_context(const char* name, const Action& action) {
    return call(name, [&](System& system) -> int {
        if (current == nullptr || current->retained == 0) return invalid_context;
        if (current->error != 0) return current->error;
        const int result = action(system, *current);
        return current->error != 0 ? current->error : result;
    });
}

// The default stream, as others name it, and that of the calling thread.
inline const auto legacy_stream = reinterpret_cast<api::StreamHandle>(1),  // NOLINT
    thread_stream = reinterpret_cast<api::StreamHandle>(2);                // NOLINT

// The stream behind a handle; null: there is none, or it is of another context.
inline std::shared_ptr<Stream> stream_of(const System& system, Context& context,
                                         api::StreamHandle handle) {
    if (handle == nullptr || handle == legacy_stream) return context.default_stream;
    if (handle == thread_stream) return context.stream_of_thread();
    return system.streams.find(handle, context);
}

// Puts an operation in a stream, or in the graph that it is captured into.
int submit(System& system, Stream& stream, Work work);

}  // namespace software_cuda
