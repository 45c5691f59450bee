#include "tests/cuda_driver/context.hpp"

#include <algorithm>
#include <cstdlib>

#include "tests/cuda_driver/capture.hpp"

namespace software_cuda {

std::shared_ptr<Stream> Context::stream_of_thread() {
    std::shared_ptr<Stream>& own = of_threads[std::this_thread::get_id()];
    if (own == nullptr) streams.push_back(own = std::make_shared<Stream>(*this, true));
    return own;
}

bool Context::is_pinned(const void* host, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(host);
    auto found = pinned.upper_bound(at);
    if (found == pinned.begin()) return false;
    --found;
    const std::size_t offset = at - found->first;
    return offset <= found->second && bytes <= found->second - offset;
}

bool Context::reaches(const void* pointer) const {
    return memory.in_range(pointer) || is_pinned(pointer, 0);
}

bool Context::is_pageable(const void* host, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(host);
    auto found = pinned.lower_bound(at + bytes);
    if (found == pinned.begin()) return true;
    --found;
    return found->first + found->second <= at;
}

std::shared_ptr<Stream> Context::shared(const Stream& stream) const {
    for (const auto& s : streams)
        if (s.get() == &stream) return s;
    return nullptr;
}

System::System() { set(std::getenv("HINDCAST_SOFTWARE_CUDA")); }

void System::set(const char* text) {
    settings = read_settings(text);
    settings.devices = std::min(settings.devices, most_devices);
    counters = {};
    scheduler.seed(settings.seed);
    for (Context& context : contexts) context.error = 0;
}

void System::end(Context& context) {
    scheduler.discard(context);
    counters.abandoned += static_cast<long long>(context.memory.count() + context.pinned.size());
    externals.remove_of(context);
    semaphores.remove_of(context);
    executables.remove_of(context);
    graphs.remove_of(context);
    events.remove_of(context);
    streams.remove_of(context);
    functions.remove_of(context);
    modules.remove_of(context);
    for (const auto& stream : context.streams)
        if (stream->capture != nullptr) stream->capture->members.clear(), stream->capture.reset();
    context.streams.clear();
    context.of_threads.clear();
    context.default_stream.reset();
    context.memory.forget_all();
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    for (const auto& [at, bytes] : context.pinned) std::free(reinterpret_cast<void*>(at));
    context.pinned.clear();
    context.error = 0;
}

long long System::count(const std::string& what) const {
    if (what != "leaks") return counters.find(what);
    long long all = counters.abandoned;
    for (const Context& context : contexts)
        all += static_cast<long long>(context.memory.count() + context.pinned.size());
    return all;
}

System& the_system() {
    static System* const system = new System;
    return *system;
}

}  // namespace software_cuda
