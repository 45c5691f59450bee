// Entry points: modules, launches, streams and events.
#include <algorithm>
#include <cstring>

#include "tests/cuda_driver/api/api.hpp"
#include "tests/cuda_driver/capture.hpp"

namespace software_cuda {

using api::EventHandle;
using api::FunctionHandle;
using api::ModuleHandle;
using api::StreamHandle;

int submit(System& system, Stream& stream, Work work) {
    if (stream.capture != nullptr) return capture_work(stream, std::move(work));
    if (&stream == stream.context.default_stream.get())
        if (const int refused = refuse_while_capturing(stream.context, true, capture_implicit))
            return refused;
    system.scheduler.enqueue(stream, std::move(work));
    return success;
}

// ---- modules and launches

EXPORT int cuModuleLoadData(ModuleHandle* module, const void* image) {
    return call_in_context("cuModuleLoadData", [&](System& system, Context& context) -> int {
        if (module == nullptr || image == nullptr) return invalid_value;
        int result = success;
        auto loaded = Module::load(image, architecture, result);
        if (loaded == nullptr) return result;
        *module = system.modules.add<ModuleHandle>(
            std::make_shared<LoadedModule>(LoadedModule{context, std::move(loaded), {}}));
        return success;
    });
}

// Operations that have not been executed, and graphs, lose its functions: they are illegal now.
EXPORT int cuModuleUnload(ModuleHandle module) {
    return call_in_context("cuModuleUnload", [&](System& system, Context& context) -> int {
        if (system.modules.find(module, context) == nullptr) return invalid_handle;
        system.modules.remove(module);
        return success;
    });
}

EXPORT int cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
    return call_in_context("cuModuleGetFunction", [&](System& system, Context& context) -> int {
        if (function == nullptr || name == nullptr) return invalid_value;
        const auto in = system.modules.find(module, context);
        if (in == nullptr) return invalid_handle;
        const auto found = in->module->find(name);
        if (found == nullptr) return not_found;
        FunctionHandle& handle = in->functions[name];
        if (handle == nullptr)
            handle = system.functions.add<FunctionHandle>(
                std::make_shared<LoadedFunction>(LoadedFunction{context, found}));
        *function = handle;
        return success;
    });
}

EXPORT int cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads, FunctionHandle function,
                                            std::size_t (*)(int), std::size_t, int limit) {
    return call_in_context("cuOccupancyMaxPotentialBlockSize",
                           [&](System& system, Context& context) -> int {
                               if (system.functions.find(function, context) == nullptr)
                                   return invalid_handle;
                               if (limit < 0 || blocks == nullptr || threads == nullptr)
                                   return invalid_value;
                               *blocks = 16;
                               *threads = limit == 0 ? 256 : std::min(limit, 256);
                               return success;
                           });
}

EXPORT int cuLaunchKernel(FunctionHandle handle, unsigned blocks_x, unsigned blocks_y,
                          unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                          unsigned threads_z, unsigned shared, StreamHandle stream_handle,
                          void** arguments, void** extra) {
    return call_in_context("cuLaunchKernel", [&](System& system, Context& context) -> int {
        const auto loaded = system.functions.find(handle, context);
        const auto stream = stream_of(system, context, stream_handle);
        if (loaded == nullptr || stream == nullptr || loaded->function->run == nullptr)
            return invalid_handle;
        const Function& function = *loaded->function;
        constexpr unsigned most_x = 0x7fffffff, most_yz = 65535, most_threads = 1024;
        const auto out = [](unsigned n, unsigned most) { return n == 0 || n > most; };
        if (out(blocks_x, most_x) || out(blocks_y, most_yz) || out(blocks_z, most_yz) ||
            out(threads_x, most_threads) || out(threads_y, most_threads) || out(threads_z, 64) ||
            threads_x * threads_y * threads_z > most_threads || shared > 48 * 1024 ||
            extra != nullptr || (arguments == nullptr && !function.sizes.empty()))
            return invalid_value;
        if (++system.counters.launch_calls == system.settings.launch_fails)
            return launch_out_of_resources;
        if (stream->capture == nullptr) ++system.counters.launches;
        Work work;
        work.function = loaded->function;
        const unsigned blocks[] = {blocks_x, blocks_y, blocks_z},
                       threads[] = {threads_x, threads_y, threads_z};
        std::copy_n(blocks, 3, work.blocks);
        std::copy_n(threads, 3, work.threads);
        work.data = std::make_unique_for_overwrite<std::uint64_t[]>(function.slots);
        std::size_t slot = 0;
        for (std::size_t k = 0; k < function.sizes.size(); ++k) {
            std::memcpy(&work.data[slot], arguments[k], function.sizes[k]);
            slot += (function.sizes[k] + 7) / 8;
        }
        return submit(system, *stream, std::move(work));
    });
}

// ---- streams

EXPORT int cuStreamCreate(StreamHandle* stream, unsigned flags) {
    return call_in_context("cuStreamCreate", [&](System& system, Context& context) {
        if (stream == nullptr || flags > api::non_blocking_stream) return invalid_value;
        ++system.counters.streams;
        auto made = std::make_shared<Stream>(context, flags != api::non_blocking_stream);
        context.streams.push_back(made);
        *stream = system.streams.add<StreamHandle>(std::move(made));
        return success;
    });
}

// What it holds will still be executed.
EXPORT int cuStreamDestroy_v2(StreamHandle handle) {
    return call_in_context("cuStreamDestroy_v2", [&](System& system, Context& context) -> int {
        const auto stream = system.streams.find(handle, context);
        if (stream == nullptr) return invalid_handle;
        if (stream->capture != nullptr) return refuse_in_capture(*stream);
        stream->destroyed = true;
        if (stream->queue.empty()) std::erase(context.streams, stream);
        system.streams.remove(handle);
        return success;
    });
}

EXPORT int cuStreamSynchronize(StreamHandle handle) {
    return call_in_context("cuStreamSynchronize", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (stream->capture != nullptr) return refuse_in_capture(*stream);
        if (handle == nullptr)
            if (const int refused = refuse_while_capturing(context, true, capture_implicit))
                return refused;
        ++system.counters.synchronizations;
        system.scheduler.run_until(system.scheduler.end_of(stream));
        return success;
    });
}

EXPORT int cuStreamWaitEvent(StreamHandle stream_handle, EventHandle event_handle, unsigned flags) {
    return call_in_context("cuStreamWaitEvent", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, stream_handle);
        const auto event = system.events.find(event_handle);
        if (stream == nullptr || event == nullptr) return invalid_handle;
        if (flags != 0) return invalid_value;
        if (event->capture != nullptr && &event->context != &context) return invalid_handle;
        if (stream->capture != nullptr || event->capture != nullptr)
            return capture_wait(stream, *event);
        if (event->point.passed()) return success;
        Work work;
        work.kind = Work::Kind::wait;
        work.point = event->point;
        return submit(system, *stream, std::move(work));
    });
}

// ---- events

EXPORT int cuEventCreate(EventHandle* event, unsigned flags) {
    return call_in_context("cuEventCreate", [&](System& system, Context& context) {
        if (event == nullptr || flags > 7) return invalid_value;
        ++system.counters.events;
        *event = system.events.add<EventHandle>(
            std::make_shared<Event>(Event{context, {}, nullptr, {}, (flags & 2) == 0}));
        return success;
    });
}

EXPORT int cuEventDestroy_v2(EventHandle event) {
    return call_in_context("cuEventDestroy_v2", [&](System& system, Context& context) {
        if (system.events.find(event, context) == nullptr) return invalid_handle;
        system.events.remove(event);
        return success;
    });
}

EXPORT int cuEventRecord(EventHandle event_handle, StreamHandle stream_handle) {
    return call_in_context("cuEventRecord", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, stream_handle);
        const auto event = system.events.find(event_handle, context);
        if (stream == nullptr || event == nullptr) return invalid_handle;
        if (stream->capture != nullptr && stream->capture->invalid) return capture_invalidated;
        if (stream_handle == nullptr)
            if (const int refused = refuse_while_capturing(context, true, capture_implicit))
                return refused;
        if (event->timed && stream->capture == nullptr) {
            Work work;
            work.kind = Work::Kind::stamp;
            work.time = event->time = std::make_shared<long long>(0);
            if (const int result = submit(system, *stream, std::move(work)); result != success)
                return result;
        }
        event->capture = stream->capture;
        event->frontier = stream->frontier;
        event->point = stream->capture != nullptr ? Point() : system.scheduler.end_of(stream);
        return success;
    });
}

EXPORT int cuEventQuery(EventHandle handle) {
    return call_in_context("cuEventQuery", [&](System& system, Context& context) -> int {
        const auto event = system.events.find(handle, context);
        if (event == nullptr) return invalid_handle;
        if (event->capture != nullptr) {
            event->capture->invalid = true;
            return captured_event;
        }
        if (event->point.passed()) return success;
        system.scheduler.run_toward(event->point);
        return not_ready;
    });
}

EXPORT int cuEventElapsedTime(float* milliseconds, EventHandle from_handle, EventHandle to_handle) {
    return call_in_context("cuEventElapsedTime", [&](System& system, Context& context) -> int {
        const auto from = system.events.find(from_handle, context),
                   to = system.events.find(to_handle, context);
        if (from == nullptr || to == nullptr || from->time == nullptr || to->time == nullptr)
            return invalid_handle;
        if (milliseconds == nullptr) return invalid_value;
        if (!from->point.passed() || !to->point.passed()) return not_ready;
        *milliseconds = static_cast<float>(*to->time - *from->time) * 1e-3f;
        return success;
    });
}

EXPORT int cuEventSynchronize(EventHandle handle) {
    return call_in_context("cuEventSynchronize", [&](System& system, Context& context) -> int {
        const auto event = system.events.find(handle, context);
        if (event == nullptr) return invalid_handle;
        if (event->capture != nullptr) {
            event->capture->invalid = true;
            return captured_event;
        }
        ++system.counters.synchronizations;
        system.scheduler.run_until(event->point);
        return success;
    });
}

}  // namespace software_cuda
