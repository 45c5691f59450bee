// Executable: a kernel made ready to run; every back end offers it.
//
// Semantics common to all back ends (the interpreter is the definition, the others are tested
// against it bit by bit):
//  - items run 0 .. items-1; nothing an item computes depends on another item of the same launch.
//  - accumulate: each target component receives its terms in order of item, and within an item in
//    the order executed, starting from what was there, each sum rounded to the parameter's type.
//    Parameters with sites at dynamic indices, or in loops at others than the own index, are summed
//    in fixed point instead (fixed_point.hpp): exactly, and added to the array when all other
//    accumulation is done, in order of parameter. An index out of range in such a site is always a
//    fault. `sum` clears the whole array first.
//  - reduce: an item's terms are added in f64 in the order executed, starting from +0. Items are
//    cut into chunks of reduce_chunk; within a chunk, lane l of reduce_lanes adds the totals of
//    items i = l mod reduce_lanes in order; the lanes are added pairwise (0+8, 1+9, ...; then 0+4, ...; 0+2, ...;
//    0+1); chunk totals are added in order of chunk, starting from +0; the launch adds that total
//    to the target, which is f64 in both precisions.
//  - a real launch parameter is f64 in memory and rounded once to the kernel's real type.
//  - faults (loop over its limit, index out of range in checked mode) end the launch with an Error
//    that names the kernel, the source place and the lowest item concerned; what the launch wrote
//    is then undefined.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/binding.hpp"
#include "engine/backend/pass_set.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast {
class ThreadPool;
}

namespace hindcast::backend {

class DeferredWork;
struct FactUpdate;

inline constexpr std::int64_t reduce_chunk = 1024;
inline constexpr int reduce_lanes = 16;

// A launch's name and arguments, for errors.
struct LaunchWords {
    std::string name;
    std::function<std::string()> arguments = {};  // as they stand when it is asked

    // "the launch 'push' with rate = 0.1; x: f64 [40, 2]"
    std::string text() const {
        const std::string with = arguments ? arguments() : "";
        return "the launch '" + name + "'" + (with.empty() ? "" : " with " + with);
    }
    // The same as a note to an error that names the kernel, which may be the launch's name too:
    // "in the launch ..." or "launched with rate = ..."; or "".
    std::string note(const std::string& kernel) const {
        if (name != kernel) return "in " + text();
        const std::string with = arguments ? arguments() : "";
        return with.empty() ? with : "launched with " + with;
    }
};

struct RunOptions {
    ThreadPool* pool = nullptr;  // nullptr: on the calling thread
    // On a device with memory of its own: the stream (nullptr: the context's), and where the host
    // has what Executable::reads_on_host() names, bound like the rest.
    void* stream = nullptr;
    const Binding* host = nullptr;
    // Both only where takes_deferred_work(). Copies are made before the launch changes their arrays.
    // Work that only goes over elements is added to `deferred`; all other work runs it first.
    std::span<const Copy> copies = {};
    DeferredWork* deferred = nullptr;
    // Receives facts about the arrays afterward; nullptr: launches leave nothing out.
    std::vector<FactUpdate>* learned = nullptr;
};

// A kernel ready to run. Immutable apart from caches of index structures; one thread calls run() at
// a time.
class Executable {
public:
    virtual ~Executable() = default;
    // `bindings` has one entry per kernel parameter, in order, already checked by the caller
    // (types, aliasing). A parameter that no op uses may have null data.
    virtual void run(const Binding* bindings, std::int64_t items, const RunOptions& options) = 0;
    // Compiles what such a run() needs, so that the first run does not wait for it. Only counts and
    // strides are looked at.
    virtual void prepare(const Binding* /*bindings*/, std::int64_t /*items*/) {}
    // True if a launch with such bindings, which point into the memory of a device, reads an
    // integer parameter on the host before it runs.
    virtual bool reads_on_host(const Binding* /*bindings*/, int /*parameter*/) { return false; }
    // True if run() makes RunOptions::copies on its threads, and handles RunOptions::deferred.
    virtual bool takes_deferred_work() const { return false; }
    virtual const ir::Kernel& kernel() const = 0;
};

struct CompileOptions {
    int width = 0;  // SIMD lanes: 1, 4, 8, 16; 0 = chosen from the machine. Never changes a bit of
                    // the result.
    bool checked = false;  // bounds, second stores, non-finite values
    PassSet passes = {};
};

}  // namespace hindcast::backend
