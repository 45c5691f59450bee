// Simulation and optimisation on a thread of their own: commands go in, snapshots come out, frames
// go to the renderer's Exchange. Nothing here knows a window.
//
//     Session session(registry, options);
//     session.send(Apply{document, 1, "scene.json", true});
//     auto snapshot = session.snapshot();      // the newest, never waits
//
// The trajectory of the shown parameters is computed as fast as it goes, and its frames are kept;
// playing moves through them in real time, so any moment can be gone back to. Parameters of every
// iteration are kept; of trajectories as many as `frame_memory` holds, the others are run again
// when they are asked for, which gives the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "app/session/command.hpp"
#include "app/session/snapshot.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

struct SessionOptions {
    // Device, precision, seed, allowed paths. The device is the session's alone while it lives.
    SimulationOptions simulation;
    std::int64_t frame_memory = std::int64_t{512} << 20;  // bytes
    // Rows of the history, of about 0.3 KB each besides: of more, older ones are thinned out.
    std::int64_t most_iterations = 16384;
};

// Of a CUDA device: Vulkan's device of the same UUID can share memory with it.
std::optional<std::array<std::uint8_t, 16>> cuda_uuid(const Device& device);

class Session {
public:
    Session(const Registry& registry, SessionOptions options);
    ~Session();  // stops at the next step
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void send(Command command);
    std::shared_ptr<const Snapshot> snapshot() const;  // never null
    // Called on the simulation's thread after each new snapshot or frame: to wake a window.
    void on_change(std::function<void()> wake);
    // For tests and headless use: waits until the condition holds of a snapshot, which is returned.
    // Throws Error after `seconds`.
    std::shared_ptr<const Snapshot> wait(const std::function<bool(const Snapshot&)>& condition,
                                         double seconds = 60) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hindcast::session
