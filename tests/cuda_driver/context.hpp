// Devices with their contexts, and the tables of everything that has a handle.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/cuda_driver/memory.hpp"
#include "tests/cuda_driver/module.hpp"
#include "tests/cuda_driver/scheduler.hpp"
#include "tests/cuda_driver/settings.hpp"
#include "tests/cuda_driver/work.hpp"

namespace software_cuda {

// The primary context of a device; alive while it is retained.
struct Context {
    int retained = 0;
    int error = 0;  // sticky
    DeviceMemory memory;
    std::map<std::uintptr_t, std::size_t> pinned;
    std::shared_ptr<Stream> default_stream;
    std::vector<std::shared_ptr<Stream>> streams;  // all, and those destroyed that have work
    std::map<std::thread::id, std::shared_ptr<Stream>> of_threads;

    // The default stream of the calling thread, which blocks with respect to that of all.
    std::shared_ptr<Stream> stream_of_thread();
    bool is_pinned(const void* host, std::size_t bytes) const;
    // No byte of it is pinned.
    bool is_pageable(const void* host, std::size_t bytes) const;
    // Kernels can follow it: memory of the device, or pinned memory of the host.
    bool reaches(const void* pointer) const;
    std::shared_ptr<Stream> shared(const Stream& stream) const;
};

struct LoadedModule {
    Context& context;
    std::unique_ptr<Module> module;
    std::map<std::string, hindcast::backend::cuda::FunctionHandle> functions;
};
struct LoadedFunction {
    Context& context;
    std::shared_ptr<Function> function;
};
// Memory behind a file descriptor, which it has taken.
struct External {
    Context& context;
    int descriptor;
    std::size_t bytes;

    External(Context& of, int file, std::size_t size)
        : context(of), descriptor(file), bytes(size) {}
    ~External();
    External(const External&) = delete;
    External& operator=(const External&) = delete;
};
// A timeline semaphore behind a file descriptor, which it has taken: a file of 8 bytes with its
// value.
struct ExternalSemaphore {
    Context& context;
    int descriptor;

    ExternalSemaphore(Context& of, int file) : context(of), descriptor(file) {}
    ~ExternalSemaphore();
    ExternalSemaphore(const ExternalSemaphore&) = delete;
    ExternalSemaphore& operator=(const ExternalSemaphore&) = delete;
    // False: it is that high already, or the file is gone.
    bool raise(std::uint64_t value) const;
};
struct Graph {
    Context& context;
    std::shared_ptr<const GraphNodes> nodes;
};
struct GraphExec {
    Context& context;
    std::shared_ptr<const GraphNodes> nodes;
    Point last;  // behind the latest launch
};

// Handles are the addresses of what they stand for.
template <class T>
class Handles {
public:
    template <class Handle>
    Handle add(std::shared_ptr<T> object) {
        T* const at = object.get();
        objects_[at] = std::move(object);
        return reinterpret_cast<Handle>(at);
    }
    // Null if it is none, or of another context.
    std::shared_ptr<T> find(const void* handle, const Context& context) const {
        const auto found = objects_.find(handle);
        if (found == objects_.end() || &found->second->context != &context) return nullptr;
        return found->second;
    }
    // Of any context.
    std::shared_ptr<T> find(const void* handle) const {
        const auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second;
    }
    void remove(const void* handle) { objects_.erase(handle); }
    void remove_of(const Context& context) {
        std::erase_if(objects_, [&](const auto& o) { return &o.second->context == &context; });
    }

private:
    std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

constexpr int most_devices = 8, architecture = 90;  // compute capability 9.0

struct System {
    std::mutex mutex;
    bool initialized = false;
    Settings settings;
    Counters counters;
    Scheduler scheduler{settings, counters};
    Context contexts[most_devices];
    Handles<Stream> streams;
    Handles<Event> events;
    Handles<LoadedModule> modules;
    Handles<LoadedFunction> functions;
    Handles<External> externals;
    Handles<ExternalSemaphore> semaphores;
    Handles<Graph> graphs;
    Handles<GraphExec> executables;

    System();
    // Replaces the settings; counters and sticky errors begin anew.
    void set(const char* text);
    void end(Context& context);
    long long count(const std::string& what) const;
    bool has_device(int device) const { return device >= 0 && device < settings.devices; }
};

// Lives as long as the process: programs call the driver from destructors of their own.
System& the_system();

}  // namespace software_cuda
