// Simulation and optimization on threads of their own: commands go in, snapshots come out, and
// frames go to the renderer's Exchange. The session does not depend on a window.
//
//     Session session(registry, options);
//     session.send(Apply{document, 1, "scene.json", true});
//     auto snapshot = session.snapshot();      // the newest, never waits
//
// The trajectory of the parameters shown is computed as fast as possible and its frames are kept.
// Playing moves through them in real time, so that the user can seek to any time. The parameters of
// every iteration are kept, and as many trajectories as fit into `frame_memory`. The others are run
// again when they are requested, which gives the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "app/session/link/command.hpp"
#include "app/session/link/snapshot.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

struct SessionOptions {
    // Device, precision, seed, allowed paths. Nothing else may use the device while the session
    // lives.
    SimulationOptions simulation;
    std::int64_t frame_memory = std::int64_t{512} << 20;  // bytes
    // The bound on rows of the history, about 0.3 KB each. Beyond it older rows are thinned out.
    std::int64_t most_iterations = 16384;
};

// The UUID of a CUDA device; the Vulkan device with the same UUID can share memory with it.
std::optional<std::array<std::uint8_t, 16>> cuda_uuid(const Device& device);

class Session {
public:
    Session(const Registry& registry, SessionOptions options);
    ~Session();  // stops at the next step
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void send(Command command);
    std::shared_ptr<const Snapshot> snapshot() const;  // never null
    // `wake` is called on a session thread after each new snapshot or frame, to wake a window.
    void on_change(std::function<void()> wake);
    // For tests and headless use: waits for a snapshot that meets the condition and returns it.
    // Throws Error after `seconds`.
    std::shared_ptr<const Snapshot> wait(const std::function<bool(const Snapshot&)>& condition,
                                         double seconds = 60) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hindcast::session
