// Tape: launches in the order they ran, and their adjoints in reverse.
//
// The values that an adjoint reads must still be there. A launch that overwrites a version that an
// earlier adjoint needs is found when it is recorded: the value is kept (and counted), or the error
// names both launches. backward() throws Error if the host has overwritten such a value after
// forward().
//
// Numbers may be changed with Launch::set() and the tape be replayed by forward(). After an array
// was replaced by another with set(), forward() plans again what it keeps.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/runtime/program/program.hpp"

namespace hindcast {

enum class OverwritePolicy : std::uint8_t { keep, error };

class Tape {
public:
    explicit Tape(OverwritePolicy policy = OverwritePolicy::keep) : policy_(policy) {}

    // Runs the launch and records it; if it throws, nothing is recorded.
    void launch(const Launch& launch);
    void copy(const std::shared_ptr<Device>& device, const Array& to, const Array& from);
    // Host code that only looks: runs now and in forward(), is skipped by backward().
    void host(std::function<void()> callback);

    void forward();   // runs everything that was recorded again
    void backward();  // adds to the gradients; seed the outputs' gradients first
    // Zeroes every gradient that backward() touches.
    void clear_gradients();
    // Recorded launches, and those to come, run on this stream from now on; without one they run on
    // the device's own. Faults are then raised when the stream is waited for. Throws Error if a
    // launch is of another device.
    void move_to(const std::optional<Stream>& stream);

    std::size_t size() const { return entries_.size(); }
    // Values kept because a later launch overwrites them: how many, and their bytes.
    std::size_t snapshots() const { return kept_.size(); }
    std::int64_t kept_bytes() const;

private:
    struct Kept {
        Array source;  // read from just before entry `before` runs
        Array copy;
        std::size_t before;
    };
    struct Entry {
        Launch::Replay forward, backward;
        bool is_launch = false;
        bool differentiable = false;  // false: backward() passes over it
        std::uint64_t bindings_version = 0;
        std::function<void()> callback;
        std::vector<Need> needs;
        std::vector<std::uint64_t> versions;  // of the needs, when the launch ran
        std::vector<int> kept;                // index into kept_, or -1: the array itself
    };
    static Entry entry_for(const Launch& launch);
    void record(Entry entry);
    void run(std::size_t position);
    void keep_what_is_overwritten(std::size_t position);
    bool rebound() const;
    void check_needs(const Entry& entry) const;

    void move(Entry& entry);
    std::optional<Stream> stream_;
    std::vector<Stream> streams_;  // the same, for each Device of the launches
    OverwritePolicy policy_;
    std::vector<Entry> entries_;
    std::vector<Kept> kept_;
    bool complete_ = true;  // every entry ran since the last change
};

}  // namespace hindcast
